-- The tables of names of a file, as views over those of a store: an id is the key. Row 0 means "none", as in a file.
CREATE VIEW clear_views.mappings AS
SELECT key AS id, filename COLLATE "C" AS filename, build_id COLLATE "C" AS build_id, memory_start, memory_limit, file_offset,
       has_functions, has_filenames, has_line_numbers, has_inline_frames
FROM clear.mappings
WHERE project = clear_views.project()
UNION ALL
SELECT 0, '', '', 0, 0, 0, 0, 0, 0, 0;

CREATE VIEW clear_views.functions AS
SELECT key AS id, name COLLATE "C" AS name, system_name COLLATE "C" AS system_name, filename COLLATE "C" AS filename, start_line
FROM clear.functions
WHERE project = clear_views.project();

CREATE VIEW clear_views.locations AS
SELECT key AS id, mapping AS mapping_id, address, is_folded, 0::bigint AS lines_hash
FROM clear.locations
WHERE project = clear_views.project();

CREATE VIEW clear_views.location_lines AS
SELECT locations.key AS location_id, item.place - 1 AS "position", item.function_id, item.line, item."column"
FROM clear.locations
CROSS JOIN LATERAL unnest(locations.functions, locations.lines, locations."columns") WITH ORDINALITY
    AS item(function_id, line, "column", place)
WHERE locations.project = clear_views.project();

CREATE VIEW clear_views.traces AS
SELECT key AS id, key AS hash, signature, ('[' || array_to_string(locations, ',') || ']') COLLATE "C" AS stack,
       nullif(shown_location, 0) AS location_id, nullif(shown_function, 0) AS function_id, shown_line AS line
FROM clear.traces
WHERE project = clear_views.project()
UNION ALL
SELECT 0, 0, 0, '[]', NULL, NULL, 0;

CREATE VIEW clear_views.label_sets AS
SELECT key AS id, labels COLLATE "C" AS labels
FROM clear.label_sets
WHERE project = clear_views.project()
UNION ALL
SELECT 0, '[]';

CREATE VIEW clear_views.objects AS
SELECT key AS id, kind COLLATE "C" AS kind, identity COLLATE "C" AS identity, name COLLATE "C" AS name, trace AS trace_id, "offset"
FROM clear.objects
WHERE project = clear_views.project();

CREATE VIEW clear_views.subjects AS
SELECT key AS id, name COLLATE "C" AS name
FROM clear.subjects
WHERE project = clear_views.project()
UNION ALL
SELECT 0, '';

CREATE VIEW clear_views.source_texts AS
SELECT key AS id, hash COLLATE "C" AS hash, text COLLATE "C" AS text
FROM clear.source_texts
WHERE project = clear_views.project();
