-- The quoted names of the views in the file that the clear which wrote them called its own (meta, key own_views).
SELECT quote(view.name)
FROM meta
JOIN json_each(meta.value) AS former
JOIN sqlite_schema AS view ON view.name = former.value
WHERE meta.key = 'own_views' AND view.type = 'view'
