-- The transpiled texts of run :run, beside each profile of fibers that their markers describe.
SELECT profiles.id, source_texts.text
FROM profiles
JOIN sources USING (run_id)
JOIN source_texts ON source_texts.id = text_id
WHERE run_id = :run AND kind = 'fibers' AND role = 'transpiled';
