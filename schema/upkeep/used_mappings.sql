-- The mappings of profiles are no column, but JSON.
INSERT OR IGNORE INTO temp.used(id)
SELECT mapping.value
FROM main.profiles
JOIN json_each(profiles.mappings) AS mapping;
