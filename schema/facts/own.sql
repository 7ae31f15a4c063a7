-- What in the locations that call_locations has is the program's own code: the one rule of it. The locations are those of the samples of CPU time (call_use.sql)
-- where a run is sealed, and those of the stacks of findings where clear doctor asks (facts_find_own).

-- Fill
-- What may hold the program's own code: its executables, what lies below their directories, and what has lines and does not lie where systems keep their
-- libraries. Of a run that was not recorded the first mapping. Of Python scripts not the interpreter, but their files (see below).
CREATE TEMP TABLE IF NOT EXISTS call_mappings (mapping_id INTEGER PRIMARY KEY, has_lines INTEGER);

DELETE FROM call_mappings;

-- Needs call_locations
INSERT INTO call_mappings
WITH
executable AS MATERIALIZED (SELECT DISTINCT executable AS path, rtrim(executable, replace(executable, '/', '')) AS directory FROM processes WHERE run_id = :run),
first AS MATERIALIZED (
    SELECT DISTINCT CAST(substr(mappings, 2) AS INTEGER) AS mapping_id
    FROM profiles
    WHERE run_id = :run AND kind = 'cpu' AND process_id IS NULL
)
SELECT mappings.id, has_line_numbers
FROM (SELECT DISTINCT mapping_id FROM call_locations) AS met
CROSS JOIN mappings ON mappings.id = met.mapping_id
WHERE mappings.id <> 0 AND NOT filename GLOB '*/libclear_rt.so*'
  AND NOT ltrim(substr(filename, 1 + length(rtrim(filename, replace(filename, '/', '')))), 'lib') GLOB 'python3*' AND NOT filename GLOB '*/lib-dynload/*'
  AND (has_line_numbers = 1 AND NOT (filename GLOB '/usr/*' OR filename GLOB '/lib*/*' OR filename GLOB '/opt/*' OR filename GLOB '/nix/*' OR filename = '')
       OR EXISTS (SELECT 1 FROM executable
                  WHERE filename = path OR length(directory) > 1 AND substr(filename, 1, length(directory)) = directory)
       OR EXISTS (SELECT 1 FROM first WHERE first.mapping_id = mappings.id))
UNION ALL
SELECT 0, 1 -- the functions of scripts, which are in files and in no mapping
WHERE EXISTS (SELECT 1 FROM executable) AND EXISTS (SELECT 1 FROM call_locations WHERE mapping_id = 0);

-- Where in a location the innermost function of the program's own is, NULL: nowhere; and whether it is a step of throwing an exception. Headers and sources of
-- compilers, of standard libraries and of packages are not its own; nor is, where the rest has lines, a function without a file, which was linked in,
-- nor what only allocates or locks for its callers: that is asked once of each function, as there are 276 patterns.
-- Needs call_locations
WITH
met_functions AS MATERIALIZED (
    SELECT DISTINCT function_id
    FROM call_locations
    CROSS JOIN call_mappings ON call_mappings.mapping_id = call_locations.mapping_id
    CROSS JOIN location_lines ON location_lines.location_id = call_locations.location_id
),
wild AS MATERIALIZED (SELECT pattern FROM wrappers WHERE pattern GLOB '*[*?[]*'),
wrapping AS MATERIALIZED (
    SELECT functions.id
    FROM met_functions
    CROSS JOIN functions ON functions.id = met_functions.function_id
    WHERE EXISTS (SELECT 1 FROM wrappers WHERE pattern = name) OR EXISTS (SELECT 1 FROM wild WHERE name GLOB pattern)
)
UPDATE call_locations
SET own = found.own, last = found.last, raises = found.raises
FROM (SELECT met.location_id,
             min(CASE WHEN call_mappings.mapping_id IS NULL OR functions.id IS NULL
                        OR filename = '' AND (has_lines = 1 OR name GLOB 'std::*' OR name GLOB '__gnu_cxx::*' OR name GLOB 'operator *' OR name GLOB 'core::*'
                                              OR name GLOB 'alloc::*' OR name GLOB '<std::*' OR name GLOB '<core::*' OR name GLOB '<alloc::*'
                                              OR name GLOB '_start' OR name GLOB '*+0x*')
                        OR filename GLOB '/usr/include/*' OR filename GLOB '/usr/local/include/*' OR filename GLOB '/usr/lib/*' OR filename GLOB '*/include/c++/*'
                        OR filename GLOB '/rustc/*' OR filename GLOB '/usr/src/rustc-*' OR filename GLOB '/rust/deps/*' OR filename GLOB '*/rustlib/src/*'
                        OR filename GLOB '*/registry/src/*' OR filename GLOB '/usr/local/go/src/*' OR filename GLOB '*/lib/python3*' OR filename GLOB '<frozen *'
                        OR functions.id IN (SELECT id FROM wrapping)
                      THEN NULL ELSE position END) AS own,
             max(position) AS last,
             coalesce(max(name IN ('_Unwind_RaiseException', '_Unwind_Resume', '_Unwind_Resume_or_Rethrow', '__cxa_throw', '__cxa_rethrow')), 0) AS raises
      FROM call_locations AS met
      LEFT JOIN call_mappings ON call_mappings.mapping_id = met.mapping_id
      LEFT JOIN location_lines ON location_lines.location_id = met.location_id
      LEFT JOIN functions ON functions.id = location_lines.function_id
      GROUP BY met.location_id) AS found
WHERE found.location_id = call_locations.location_id;
