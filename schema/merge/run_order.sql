-- The statements of ingest/read/warehouse/run_order.c.

-- @places: What the wanted run uses of one table of names, in the order in which exports list it: its id and its place. :run: the wanted run.
SELECT
    used.id,
    coalesce((SELECT place FROM main.run_places WHERE run_id = :run AND thing = :thing AND run_places.id = used.id), used.id)
FROM temp.used
WHERE used.id <> 0
ORDER BY 2

-- @put_place: Where exports list a stack, label set or object of run :run.
INSERT INTO main.run_places(run_id, thing, id, place)
VALUES (:run, :thing, :id, :place)

-- @used_label_sets: Label sets that allocation sites name.
INSERT OR IGNORE INTO temp.used(id)
SELECT site_keys.label_set_id
FROM temp.used_keys
JOIN main.site_keys ON site_keys.id = used_keys.id;

-- @used_traces: Stacks that objects and allocation sites name.
INSERT OR IGNORE INTO temp.used(id)
SELECT objects.trace_id
FROM temp.used_objects
JOIN main.objects ON objects.id = used_objects.id;
INSERT OR IGNORE INTO temp.used(id)
SELECT site_keys.trace_id
FROM temp.used_keys
JOIN main.site_keys ON site_keys.id = used_keys.id;
