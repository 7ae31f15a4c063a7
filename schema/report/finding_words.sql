-- What is said of findings: :findings is an array of ["SECTION-CODE", stack]. The title and the text of the advice for the code, the short advice in the
-- language of the stack's line, and when it is no fault. The words are read once: as a question for each finding they were a third of all work for 2,900.
-- The languages are asked for one by one: joined, they were made for all stacks of the file.
WITH words AS MATERIALIZED (SELECT code, language, text, unless FROM short_advice),
found AS MATERIALIZED (
    SELECT key, value ->> 0 AS code, (SELECT language FROM trace_languages WHERE trace_id = CAST(value ->> 1 AS INTEGER)) AS language
    FROM json_each(:findings)
)
SELECT found.key, advice.title, advice.text, coalesce(own.text, words.text), words.unless
FROM found
LEFT JOIN advice ON advice.code = found.code
LEFT JOIN words ON words.code = advice.code AND words.language = ''
LEFT JOIN words AS own ON own.code = advice.code AND own.language = found.language
ORDER BY found.key
