-- The text of run :run in that :role which belongs into its directory: of a source the .cht file that most frames name, of
-- the transpiler's output the first by name (mostly there is one).
SELECT source_texts.text
FROM sources
JOIN source_texts ON source_texts.id = sources.text_id
WHERE sources.run_id = :run AND sources.role = :role AND (:role <> 'source' OR sources.path GLOB '*.cht')
ORDER BY sources.path = :first DESC, sources.path
LIMIT 1;
