-- All that is said of the diagnosis :name, which is SECTION-CODE or CODE, for clear help: for each code first the row of any language, with
-- the view of its rule behind the long text.
SELECT
    advice.code,
    language,
    short_advice.text || CASE WHEN unless = '' THEN '' ELSE ' Not a fault if ' || unless END AS short,
    severity,
    title,
    advice.text || ' The rule: clear schema doctor_' || replace(iif(advice.code = 'freeze-freeze', 'freeze', advice.code), '-', '_') || '.' AS long
FROM advice
JOIN short_advice ON short_advice.code = advice.code
WHERE :name IN (advice.code, substr(advice.code, instr(advice.code, '-') + 1))
ORDER BY advice.rowid, language
