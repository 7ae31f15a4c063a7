-- The statements of schema/schema.c.

-- @former_views: The quoted names of the views in the file that the clear which wrote them called its own (meta, key own_views).
SELECT quote(view.name)
FROM meta
JOIN json_each(meta.value) AS former
JOIN sqlite_schema AS view ON view.name = former.value
WHERE meta.key = 'own_views' AND view.type = 'view'

-- @views_to_shadow: The names and texts of the file's views that have no temporary view of the same name.
SELECT name, sql
FROM main.sqlite_schema
WHERE type = 'view' AND name NOT IN (SELECT name FROM temp.sqlite_schema)

-- @put_view: A view, as CREATE VIEW writes it.
INSERT INTO main.sqlite_schema(type, name, tbl_name, rootpage, sql)
VALUES ('view', :name, :name, 0, :sql)
