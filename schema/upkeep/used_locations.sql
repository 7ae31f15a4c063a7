-- The frames of stacks are no columns, but JSON.
INSERT OR IGNORE INTO temp.used(id)
SELECT frame.value
FROM main.traces
JOIN json_each(traces.stack) AS frame;
