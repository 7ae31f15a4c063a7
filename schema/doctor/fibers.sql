DROP VIEW IF EXISTS doctor_fibers;
CREATE VIEW doctor_fibers AS
-- Question: do fibers do enough work to pay for their start, and do all schedulers have work?
-- Rows: one per run and code; the processes and profiles of the run are summed. Both codes may be true at once.
-- Columns: those of doctor, and
--   total_fibers [count]: fibers. NULL, from here to max_lifetime_ns: the row is an imbalance
--   short_fibers [count]: those that lived less than 1 ms
--   very_short_fibers [count]: those that lived less than 10 µs
--   very_short_percent [percent]: very_short_fibers of total_fibers, a whole number
--   total_lifetime_ns [ns]: sum of the lifetimes
--   max_lifetime_ns [ns]: the longest lifetime
--   schedulers [count]: schedulers with fibers. NULL, from here on: the row is of micro-fibers
--   runs [count]: runs of fibers on all schedulers
--   busiest_scheduler [number]: the scheduler with most runs
--   busiest_runs [count]: its runs
--   busiest_percent [percent]: busiest_runs of runs, a whole number
--   sites [JSON]: the task sites that send fibers there: [{"site":4,"line":8,"column":5,"runs":3600,"skew":0.997}, …]; skew is
--     the share of the site's runs that were on one scheduler
-- Thresholds (names are rows of the table rules):
--   micro-fibers: total_fibers >= fibers_micro_count (50), very_short_percent >= fibers_micro_percent (50 %).
--   imbalance: schedulers >= 2, busiest_percent >= fibers_imbalance_percent (80 %). It names the task sites that spawn to their
--     own scheduler (dispatch local) and have a skew >= fibers_site_skew (0.8), not rounded; without one, the subject is the
--     scheduler.
-- Severity: that of the advice, but a note if there are fewer than fibers_note_count (1,000) fibers or runs.
-- Known false positives: fibers that are short because they mostly hand work on; a program that keeps the other schedulers free
--   on purpose.
SELECT
    run.id AS run_id,
    'fibers' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    substr(finding.key, 31) AS subject,
    finding.value AS evidence,
    '[]' AS trace_ids,
    advice.text AS advice,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'total_fibers') AS INTEGER) AS total_fibers,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'short_fibers') AS INTEGER) AS short_fibers,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'very_short_fibers') AS INTEGER) AS very_short_fibers,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'very_short_percent') AS INTEGER) AS very_short_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'total_lifetime_ns') AS INTEGER) AS total_lifetime_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'max_lifetime_ns') AS INTEGER) AS max_lifetime_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'schedulers') AS INTEGER) AS schedulers,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'runs') AS INTEGER) AS runs,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'busiest_scheduler') AS INTEGER) AS busiest_scheduler,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'busiest_runs') AS INTEGER) AS busiest_runs,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'busiest_percent') AS INTEGER) AS busiest_percent,
    (SELECT value FROM json_each(finding.value) WHERE key = 'sites') AS sites
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'fibers_micro_count') AS micro_count,
        max(value) FILTER (WHERE name = 'fibers_micro_percent') AS micro_percent,
        max(value) FILTER (WHERE name = 'fibers_imbalance_percent') AS imbalance_percent,
        max(value) FILTER (WHERE name = 'fibers_note_count') AS note_count
    FROM rules
),
total AS (
    SELECT profiles.run_id, sum(total_fibers) AS total_fibers, sum(short_fibers) AS short_fibers,
           sum(very_short_fibers) AS very_short_fibers,
           CAST(round(100.0 * sum(very_short_fibers) / nullif(sum(total_fibers), 0)) AS INTEGER) AS very_short_percent,
           sum(total_lifetime_ns) AS total_lifetime_ns, max(max_lifetime_ns) AS max_lifetime_ns
    FROM fibers
    JOIN profiles ON profiles.id = fibers.profile_id
    WHERE profiles.run_id = run.id
    GROUP BY profiles.run_id
),
scheduler AS (
    SELECT run.id AS run_id, schedulers.scheduler, sum(schedulers.fibers) AS runs
    FROM schedulers
    JOIN profiles ON profiles.id = schedulers.profile_id
    WHERE profiles.run_id = run.id
    GROUP BY schedulers.scheduler
),
-- Window functions from here on: SQLite 3.40 passes a condition on run_id through one GROUP BY only.
spread AS (
    SELECT DISTINCT
        run_id, count(*) OVER run AS schedulers, sum(runs) OVER run AS runs, max(runs) OVER run AS busiest_runs,
        first_value(scheduler) OVER (PARTITION BY run_id ORDER BY runs DESC, scheduler) AS busiest_scheduler
    FROM scheduler
    WINDOW run AS (PARTITION BY run_id)
),
share AS (
    SELECT spread.*, CAST(round(100.0 * busiest_runs / nullif(runs, 0)) AS INTEGER) AS busiest_percent
    FROM spread
),
-- A row for every run, with or without task sites.
part AS (
    SELECT
        runs.id AS run_id, task_sites.site, step.key AS scheduler, sum(CAST(step.value AS INTEGER)) AS runs,
        max(task_sites.kind) AS kind, max(task_sites.line) AS line, max(task_sites.column) AS "column",
        max(task_sites.dispatch) AS dispatch
    FROM runs
    LEFT JOIN profiles ON profiles.run_id = runs.id
    LEFT JOIN task_sites ON task_sites.profile_id = profiles.id
    LEFT JOIN json_each(task_sites.schedulers) AS step
    WHERE runs.id = run.id
    GROUP BY runs.id, task_sites.site, step.key
),
site AS (
    SELECT DISTINCT
        run_id, site, sum(runs) OVER site AS runs, 1.0 * max(runs) OVER site / nullif(sum(runs) OVER site, 0) AS skew,
        max(kind) OVER site AS kind, max(line) OVER site AS line, max("column") OVER site AS "column",
        max(dispatch) OVER site AS dispatch
    FROM part
    WINDOW site AS (PARTITION BY run_id, site)
),
label AS (
    SELECT
        site.*,
        dispatch = 'local' AND skew >= (SELECT value FROM rules WHERE name = 'fibers_site_skew') AS is_named,
        -- The line in the source file; its name is known if the run has the text of one source file only.
        iif(line = 0, '',
            printf(' (%s%s%d)', iif(kind = '', '', kind || ' at '),
                   coalesce((SELECT substr(max(path), 1 + length(rtrim(max(path), replace(max(path), '/', '')))) || ':'
                             FROM sources
                             WHERE sources.run_id = site.run_id AND sources.role = 'source'
                             HAVING count(*) = 1), 'line '), line)) AS place
    FROM site
),
named AS (
    SELECT DISTINCT
        run_id,
        group_concat(printf('task site %d%s', site, place), ', ') FILTER (WHERE is_named) OVER run AS names,
        group_concat(printf('{"site":%d,"line":%d,"column":%d,"runs":%d,"skew":%.3f}', site, line, "column", runs, skew))
            FILTER (WHERE is_named) OVER run AS sites
    FROM label
    WINDOW run AS (PARTITION BY run_id ORDER BY site ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
),
judged AS (
    SELECT
        'micro-fibers' AS code, total_fibers AS weighed, total_lifetime_ns, 'fibers' AS subject,
        printf('{"total_fibers":%d,"short_fibers":%d,"very_short_fibers":%d,"very_short_percent":%d,'
               || '"total_lifetime_ns":%d,"max_lifetime_ns":%d}',
               total_fibers, short_fibers, very_short_fibers, very_short_percent, total_lifetime_ns,
               max_lifetime_ns) AS evidence
    FROM total
    CROSS JOIN rule
    WHERE total_fibers >= micro_count AND very_short_percent >= micro_percent
    UNION ALL
    SELECT
        'imbalance', share.runs, 0, coalesce(named.names, 'scheduler ' || busiest_scheduler),
        printf('{"schedulers":%d,"runs":%d,"busiest_scheduler":%d,"busiest_runs":%d,"busiest_percent":%d,"sites":[%s]}',
               schedulers, share.runs, busiest_scheduler, busiest_runs, busiest_percent, coalesce(named.sites, ''))
    FROM share
    JOIN named ON named.run_id = share.run_id
    CROSS JOIN rule
    WHERE schedulers >= 2 AND busiest_percent >= imbalance_percent
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%s":', judged.code,
        iif(judged.weighed < (SELECT note_count FROM rule), 'note', advice.severity),
        -- the subject, which has names of files, as the inside of a JSON string
        (WITH RECURSIVE escaped(text, code) AS (
             SELECT replace(replace(judged.subject, '\', '\\'), '"', '\"'), 1
             UNION ALL
             SELECT replace(text, char(code), printf('\u%04x', code)), code + 1 FROM escaped WHERE code < 32)
         SELECT text FROM escaped WHERE code = 32))
    || judged.evidence) || '}'
FROM judged
LEFT JOIN advice ON advice.code = 'fibers-' || judged.code
)) AS finding
LEFT JOIN advice ON advice.code = 'fibers-' || trim(substr(finding.key, 1, 20));
