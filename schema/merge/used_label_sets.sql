-- Label sets that allocation sites name.
INSERT OR IGNORE INTO temp.used(id)
SELECT site_keys.label_set_id
FROM temp.used_keys
JOIN main.site_keys ON site_keys.id = used_keys.id;
