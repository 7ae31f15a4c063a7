-- The quoted names of the tables of facts in the file, of the clear that made them (meta, key own_facts).
SELECT quote(former.value)
FROM main.meta
JOIN json_each(meta.value) AS former
JOIN main.sqlite_schema AS own ON own.name = former.value
WHERE meta.key = 'own_facts' AND own.type = 'table' AND (own.name GLOB '*_facts' OR own.name = 'subjects')
