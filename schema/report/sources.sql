-- The source texts that run :run keeps, for listings.
SELECT sources.path, source_texts.text, role = 'transpiled'
FROM sources
JOIN source_texts ON source_texts.id = sources.text_id
WHERE sources.run_id = :run
ORDER BY sources.path;
