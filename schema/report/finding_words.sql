-- What is said of findings: :findings is an array of ["SECTION-CODE", stack]. The title and the text of the advice for the code, the short advice in the
-- language of the stack's line, and when it is no fault. Languages are asked for one by one: joined, they were made for all stacks of the file. The words
-- are looked up once for each code and language: once for each finding they were most of the work for 20,000.
WITH found AS MATERIALIZED (
    SELECT key, value ->> 0 AS code, coalesce((SELECT language FROM trace_languages WHERE trace_id = CAST(value ->> 1 AS INTEGER)), '') AS language
    FROM json_each(:findings)
),
words AS MATERIALIZED (SELECT code, language, text, unless FROM short_advice),
said AS MATERIALIZED (
    SELECT asked.code, asked.language, advice.title, advice.text, coalesce(own.text, general.text) AS brief, general.unless
    FROM (SELECT DISTINCT code, language FROM found) AS asked
    LEFT JOIN advice ON advice.code = asked.code
    LEFT JOIN words AS general ON general.code = advice.code AND general.language = ''
    LEFT JOIN words AS own ON own.code = advice.code AND own.language = asked.language
)
SELECT found.key, said.title, said.text, said.brief, said.unless
FROM found
JOIN said ON said.code = found.code AND said.language = found.language
ORDER BY found.key
