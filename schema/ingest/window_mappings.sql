-- The mappings that window :profile met first (:mappings, JSON), the executable's own first, and what was lost in the window.
UPDATE profiles
SET mappings = (SELECT json_group_array(value)
                FROM (SELECT met.value
                      FROM json_each(:mappings) AS met
                      LEFT JOIN mappings AS known ON known.id = met.value
                      ORDER BY known.filename IS :executable DESC, met.key)),
    dropped = :dropped,
    truncated = :truncated
WHERE id = :profile;
