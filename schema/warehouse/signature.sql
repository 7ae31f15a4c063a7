-- The statements of schema/signature.c.

-- @renew_identities: The identities of objects that contain the signature of a stack, after signatures were computed again: the stack that allocated the
-- object, or of an ingested lock profile the one that waited.
UPDATE OR IGNORE objects
SET identity = substr(identity, 1, instr(identity, ':')) || printf('%016x', made.signature) ||
               iif(identity GLOB 'heap:*', '+' || offset, '')
FROM (SELECT object.id, traces.signature
      FROM objects AS object
      JOIN traces ON traces.id = iif(object.trace_id <> 0, object.trace_id,
                                     (SELECT min(locks.trace_id) FROM locks WHERE locks.object_id = object.id))
      WHERE object.identity GLOB 'heap:*' OR object.identity GLOB 'caller:*') AS made
WHERE made.id = objects.id AND made.signature <> 0

-- @parts: What signs each location: its functions, innermost first, or where it has none its module and the offset in that file.
SELECT
    locations.id AS location_id,
    coalesce(location_lines.function_id, 0) AS function_id,
    mappings.filename AS module,
    locations.address - mappings.memory_start + mappings.file_offset AS offset
FROM locations
JOIN mappings ON mappings.id = locations.mapping_id
LEFT JOIN location_lines ON location_lines.location_id = locations.id
ORDER BY locations.id, location_lines.position
