-- What is said of findings: :findings is an array of ["SECTION-CODE", stack]. The title and the text of the advice for the code, the short advice in the
-- language of the stack's line, and when it is no fault. The words are read once: as a question for each finding they were a third of all work for 2,900.
WITH words AS MATERIALIZED (SELECT code, language, text, unless FROM short_advice)
SELECT finding.key, advice.title, advice.text, coalesce(own.text, words.text), words.unless
FROM json_each(:findings) AS finding
LEFT JOIN advice ON advice.code = finding.value ->> 0
LEFT JOIN words ON words.code = advice.code AND words.language = ''
LEFT JOIN trace_languages ON trace_languages.trace_id = finding.value ->> 1
LEFT JOIN words AS own ON own.code = advice.code AND own.language = trace_languages.language
