-- Stacks that objects and allocation sites name.
INSERT OR IGNORE INTO temp.used(id)
SELECT objects.trace_id
FROM temp.used_objects
JOIN main.objects ON objects.id = used_objects.id;
INSERT OR IGNORE INTO temp.used(id)
SELECT site_keys.trace_id
FROM temp.used_keys
JOIN main.site_keys ON site_keys.id = used_keys.id;
