CREATE TABLE call_facts (
    -- What a line of the program's own code spent in a function that it calls and that is not its own, with all that this one calls: the samples of CPU time
    -- whose innermost frame of its own code is that line. Calls of a kind that is known (call) are one row for all lines of the function. What is less than
    -- 5 % of the run's CPU time has no row.
    run_id      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of most of them
    call        TEXT    NOT NULL, -- [text] what kind of call it is, as in the view usual_calls; empty: none that is known
    function    TEXT    NOT NULL, -- [text] of the program's own code
    file        TEXT    NOT NULL, -- [text] its source file; empty: unknown
    line        INTEGER NOT NULL, -- [line] in that file, of the call in trace_id; 0: unknown
    callee      TEXT    NOT NULL, -- [text] the function that it calls in trace_id
    module      TEXT    NOT NULL, -- [text] file name of its library; empty: its code is in that of the program, inlined or made of a template
    samples     INTEGER NOT NULL, -- [count] samples
    cpu_ns      INTEGER NOT NULL, -- [ns] their CPU time
    cpu_percent INTEGER NOT NULL, -- [percent] that, of all of the run that was sampled, a whole number
    run_samples INTEGER NOT NULL, -- [count] all samples of the run
    throws      INTEGER, -- [count] of the call exception: exceptions that were allocated to be thrown there, by all lines of the function; NULL: not known
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE library_facts (
    -- A function that is not the program's own and that ran itself, and the line of the program's own code that has most of its CPU time: the innermost frame
    -- of its own code there. A function that has less than 1 % of the run's CPU time has no row.
    run_id       INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    function     TEXT    NOT NULL, -- [text] the function that ran, as in the view leaves
    file         TEXT    NOT NULL, -- [text] its source file; empty: unknown
    module       TEXT    NOT NULL, -- [text] file name of its library; empty: its code is in that of the program
    own_function TEXT    NOT NULL, -- [text] of the program's own code
    own_file     TEXT    NOT NULL, -- [text] its source file; empty: unknown
    own_line     INTEGER NOT NULL, -- [line] in that file; 0: unknown
    own_percent  INTEGER NOT NULL, -- [percent] CPU time of the function for that line, of all that it has, a whole number
    lines        INTEGER NOT NULL, -- [count] lines of the program's own code that have some of it
    PRIMARY KEY (run_id, function, file)
) STRICT, WITHOUT ROWID;

-- Fill
-- Each stack with the place of its innermost own frame, NULL: none, what that calls, and what ran.
CREATE TEMP TABLE IF NOT EXISTS call_stacks (
    trace_id INTEGER PRIMARY KEY, samples INTEGER, cpu_ns INTEGER, own_function_id INTEGER, own_line INTEGER, callee_id INTEGER, callee_mapping_id INTEGER,
    leaf_id INTEGER, leaf_mapping_id INTEGER, raises INTEGER);

DELETE FROM call_stacks;

-- Needs call_samples
INSERT INTO call_stacks
WITH
met AS MATERIALIZED ( -- each stack up to its first own frame: all frames of 100,000 stacks of 50 took 1.8 s by json_each
    SELECT call_samples.trace_id, call_samples.samples, call_samples.cpu_ns, traces.stack, first_step(traces.stack, :own) AS own_key,
           first_step(traces.stack, :raises) AS raises_key
    FROM call_samples
    CROSS JOIN traces ON traces.id = call_samples.trace_id
    WHERE traces.stack <> '[]'
)
SELECT found.trace_id, found.samples, found.cpu_ns, own_line.function_id, own_line.line, callee_line.function_id, callee.mapping_id, leaf_line.function_id, leaf.mapping_id,
       coalesce(raises_key <= own_key, 0)
FROM met AS found
LEFT JOIN call_locations AS own ON own.location_id = step_at(found.stack, own_key)
LEFT JOIN location_lines AS own_line ON own_line.location_id = own.location_id AND own_line.position = own.own
LEFT JOIN call_locations AS below -- an inlined function in the same location, or what the next one is
    ON below.location_id = CASE WHEN own.own > 0 THEN own.location_id ELSE step_at(found.stack, own_key - 1) END
LEFT JOIN location_lines AS callee_line
    ON callee_line.location_id = below.location_id AND callee_line.position = CASE own.own WHEN 0 THEN below.last ELSE own.own - 1 END
LEFT JOIN locations AS callee ON callee.id = below.location_id
LEFT JOIN locations AS leaf ON leaf.id = CAST(substr(found.stack, 2) AS INTEGER)
LEFT JOIN location_lines AS leaf_line ON leaf_line.location_id = leaf.id AND leaf_line.position = 0;

-- ---- what is called ----

-- Needs call_stacks
INSERT INTO call_facts(run_id, trace_id, call, function, file, line, callee, module, samples, cpu_ns, cpu_percent, run_samples, throws)
WITH
-- The calls that something is known of: their kind, the function that is called, and the one that ran, as GLOB. The first that matches.
usual(call, callee, leaf) AS (
    VALUES
        ('regex', 'std::basic_regex<*', '*'), ('regex', 'std::__cxx11::basic_regex<*', '*'), ('regex', 'std::__detail::_Compiler<*', '*'),
        ('regex', 'regcomp', '*'), ('regex', '__regcomp', '*'), ('regex', 'pcre*_compile*', '*'), ('regex', 'g_regex_new', '*'), ('regex', 'regex::*Regex::new*', '*'),
        ('shared', '*', '__gnu_cxx::__exchange_and_add*'), ('shared', '*', '__gnu_cxx::__atomic_add*'), ('shared', '*', 'std::_Sp_counted_base<*'),
        ('shared', '<alloc::sync::Arc<*> as core::clone::Clone>::clone', '*'),
        ('shared', 'core::ptr::drop_in_place<alloc::sync::Arc<*', '<alloc::sync::Arc<*'), ('shared', 'core::ptr::drop_in_place<alloc::sync::Arc<*', 'core::sync::atomic::*'),
        ('strlen', 'strlen', '*'), ('strlen', '__strlen_*', '*'), ('strlen', 'strcat', '*'), ('strlen', '__strcat_*', '*'),
        ('timezone', 'localtime', '*'), ('timezone', '__localtime', '*'), ('timezone', 'mktime', '*'), ('timezone', 'timelocal', '*'), ('timezone', 'tzset', '*'),
        ('timezone', '__tz_convert', '*stat*'), ('timezone', '__tz_convert', 'getenv'), ('timezone', '__tz_convert', 'tzset*'), ('timezone', '__tz_convert', '__tz*'),
        ('getenv', 'getenv', '*'), ('getenv', 'secure_getenv', '*'), ('getenv', 'std::env::var*', '*'), ('getenv', 'std::env::_var*', '*'),
        ('endl', 'std::endl<*', '*'), ('endl', 'std::*basic_ostream<*>::flush', '*'), ('endl', 'std::ostream::flush*', '*'),
        ('stat', '*stat', '*'), ('stat', '*stat64', '*'), ('stat', '__?xstat*', '*'), ('stat', 'fstatat*', '*'), ('stat', 'access', '*'), ('stat', 'faccessat*', '*'),
        ('stat', 'std::filesystem::exists*', '*'), ('stat', 'std::filesystem::*status*', '*'), ('stat', 'std::path::Path::exists', '*'), ('stat', 'std::fs::metadata*', '*'),
        ('compare', 'strcmp', '*'), ('compare', '__strcmp_*', '*'), ('compare', 'strcasecmp*', '*'), ('compare', '__strcasecmp_*', '*'), ('compare', 'memcmp', '*'),
        ('compare', '__memcmp*', '*'),
        ('power', 'pow', '*'), ('power', '*__pow*', '*'), ('power', 'std::pow*', '*'), ('power', 'powf', '*'),
        ('malloc', '*', '_int_malloc'), ('malloc', '*', '_int_free'), ('malloc', 'malloc', '*'), ('malloc', 'free', '*'), ('malloc', 'calloc', '*'),
        ('malloc', 'realloc', '*'), ('malloc', 'operator new*', '*'), ('malloc', 'operator delete*', '*'),
        ('format', '*printf', '*'), ('format', '*printf_chk', '*'), ('format', 'alloc::fmt::format*', '*'), ('format', 'std::format*', '*')
),
met AS MATERIALIZED (
    SELECT own_function_id, own_line, callee_id, callee_mapping_id, leaf_id, raises, trace_id, samples, cpu_ns
    FROM call_stacks
    WHERE own_function_id IS NOT NULL AND callee_id IS NOT NULL
),
kind AS MATERIALIZED (
    SELECT callee_id, leaf_id, (SELECT call FROM usual WHERE callees.name GLOB usual.callee AND leaves.name GLOB usual.leaf LIMIT 1) AS call
    FROM (SELECT DISTINCT callee_id, leaf_id FROM met) AS pair
    JOIN functions AS callees ON callees.id = pair.callee_id
    LEFT JOIN functions AS leaves ON leaves.id = pair.leaf_id
),
known AS (
    SELECT met.*, CASE raises WHEN 1 THEN 'exception' ELSE coalesce(call, '') END AS call
    FROM met
    JOIN kind ON kind.callee_id = met.callee_id AND kind.leaf_id IS met.leaf_id
),
ranked AS (
    SELECT known.*, sum(samples) OVER same AS all_samples, sum(cpu_ns) OVER same AS all_ns, row_number() OVER (same ORDER BY cpu_ns DESC, trace_id) AS rank
    FROM known
    WINDOW same AS (PARTITION BY own_function_id, call, CASE call WHEN '' THEN own_line END, CASE call WHEN '' THEN callee_id END)
),
thrown AS MATERIALIZED ( -- by the innermost own frame
    SELECT own_line.function_id, sum(throws) AS throws
    FROM call_throws
    CROSS JOIN traces ON traces.id = call_throws.trace_id
    CROSS JOIN call_locations AS own ON own.location_id = step_at(traces.stack, first_step(traces.stack, :own))
    CROSS JOIN location_lines AS own_line ON own_line.location_id = own.location_id AND own_line.position = own.own
    GROUP BY own_line.function_id
)
SELECT :run, trace_id, call, own.name, own.filename, own_line, callee.name,
       CASE WHEN call_mappings.mapping_id IS NOT NULL THEN ''
            ELSE substr(mappings.filename, 1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', '')))) END,
       all_samples, all_ns, CAST(round(100.0 * all_ns / whole.cpu_ns) AS INTEGER), whole.samples,
       CASE call WHEN 'exception' THEN (SELECT throws FROM thrown WHERE thrown.function_id = own_function_id) END
FROM ranked
CROSS JOIN (SELECT sum(samples) AS samples, max(sum(cpu_ns), 1) AS cpu_ns FROM call_samples) AS whole
JOIN functions AS own ON own.id = own_function_id
JOIN functions AS callee ON callee.id = callee_id
JOIN mappings ON mappings.id = callee_mapping_id
LEFT JOIN call_mappings ON call_mappings.mapping_id = callee_mapping_id
WHERE rank = 1 AND 20.0 * all_ns >= whole.cpu_ns;

-- ---- what ran ----

-- Needs call_stacks
INSERT OR IGNORE INTO library_facts(run_id, function, file, module, own_function, own_file, own_line, own_percent, lines)
WITH
whole AS MATERIALIZED (SELECT sum(cpu_ns) AS cpu_ns FROM call_samples),
ran AS MATERIALIZED ( -- what has no own frame, or is one, has a row without a callee, which counts for the share alone
    SELECT leaf_id, max(leaf_mapping_id) AS mapping_id, CASE WHEN callee_id IS NOT NULL THEN own_function_id END AS own_function_id, own_line, sum(cpu_ns) AS cpu_ns
    FROM call_stacks
    WHERE leaf_id IS NOT NULL
    GROUP BY leaf_id, CASE WHEN callee_id IS NOT NULL THEN own_function_id END, own_line
),
ranked AS (
    SELECT ran.*, sum(cpu_ns) OVER (PARTITION BY leaf_id) AS all_ns, count(own_function_id) OVER (PARTITION BY leaf_id) AS lines,
           row_number() OVER (PARTITION BY leaf_id ORDER BY own_function_id IS NULL, cpu_ns DESC, own_function_id, own_line) AS rank
    FROM ran
)
SELECT :run, leaf.name, leaf.filename,
       CASE WHEN call_mappings.mapping_id IS NOT NULL THEN ''
            ELSE substr(mappings.filename, 1 + length(rtrim(mappings.filename, replace(mappings.filename, '/', '')))) END,
       own.name, own.filename, own_line, CAST(round(100.0 * ranked.cpu_ns / max(all_ns, 1)) AS INTEGER), lines
FROM ranked
CROSS JOIN whole
JOIN functions AS leaf ON leaf.id = leaf_id
JOIN functions AS own ON own.id = own_function_id
JOIN mappings ON mappings.id = ranked.mapping_id
LEFT JOIN call_mappings ON call_mappings.mapping_id = ranked.mapping_id
WHERE rank = 1 AND own_function_id IS NOT NULL AND 100.0 * all_ns >= whole.cpu_ns
ORDER BY all_ns DESC, leaf.id;
