-- Label set :id of a warehouse that is merged, and whether it is a list of labels.
SELECT
    labels,
    json_valid(labels) AND json_type(labels) = 'array'
FROM main.label_sets
WHERE id = :id
