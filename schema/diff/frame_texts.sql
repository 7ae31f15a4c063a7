-- The texts that --focus and --ignore are matched against: of each frame of a stack the function, its file, its binary.
SELECT frames.function, frames.file, mappings.filename
FROM frames
JOIN locations ON locations.id = frames.location_id
JOIN mappings ON mappings.id = locations.mapping_id
WHERE frames.trace_id = :trace
