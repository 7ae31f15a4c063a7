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
    found.run_id, 'fibers' AS section, found.code,
    CASE WHEN coalesce(total_fibers, runs) < (SELECT value FROM rules WHERE name = 'fibers_note_count') THEN 'note'
         ELSE found.severity END AS severity,
    CASE found.code
        WHEN 'micro-fibers' THEN 'fibers'
        ELSE coalesce((SELECT group_concat(name, ', ')
                       FROM (SELECT name
                             FROM task_site_facts AS site
                             WHERE site.run_id = found.run_id AND dispatch = 'local'
                               AND skew >= (SELECT value FROM rules WHERE name = 'fibers_site_skew')
                             ORDER BY site) AS named), 'scheduler ' || busiest_scheduler) END AS subject,
    CASE found.code
        WHEN 'micro-fibers'
        THEN json_object('total_fibers', total_fibers, 'short_fibers', short_fibers, 'very_short_fibers', very_short_fibers,
                         'very_short_percent', very_short_percent, 'total_lifetime_ns', total_lifetime_ns, 'max_lifetime_ns', max_lifetime_ns)
        ELSE '{"schedulers":' || schedulers || ',"runs":' || runs || ',"busiest_scheduler":' || busiest_scheduler || ',"busiest_runs":'
             || busiest_runs || ',"busiest_percent":' || busiest_percent || ',"sites":' || sites || '}' END AS evidence,
    '[]' AS trace_ids, found.text AS advice,
    total_fibers, short_fibers, very_short_fibers, very_short_percent, total_lifetime_ns, max_lifetime_ns, schedulers, runs, busiest_scheduler,
    busiest_runs, busiest_percent, sites
FROM (SELECT run.run_id, substr(advice.code, 8) AS code, advice.severity, advice.text, fiber.total_fibers, fiber.short_fibers,
             fiber.very_short_fibers, fiber.very_short_percent, fiber.total_lifetime_ns, fiber.max_lifetime_ns, share.schedulers, share.runs,
             share.busiest_scheduler, share.busiest_runs, share.busiest_percent,
             CASE WHEN advice.code = 'fibers-imbalance'
                  THEN (SELECT '[' || coalesce(group_concat(text), '') || ']'
                        FROM (SELECT json_object('site', site, 'line', line, 'column', "column", 'runs', site.runs, 'skew', round(skew, 3)) AS text
                              FROM task_site_facts AS site
                              WHERE site.run_id = run.run_id AND dispatch = 'local'
                                AND skew >= (SELECT value FROM rules WHERE name = 'fibers_site_skew')
                              ORDER BY site) AS named) END AS sites
      FROM fiber_facts AS run
      JOIN advice ON advice.code IN ('fibers-micro-fibers', 'fibers-imbalance')
      LEFT JOIN fiber_facts AS fiber ON fiber.run_id = CASE advice.code WHEN 'fibers-micro-fibers' THEN run.run_id END
      LEFT JOIN fiber_facts AS share ON share.run_id = CASE advice.code WHEN 'fibers-imbalance' THEN run.run_id END) AS found
WHERE total_fibers >= (SELECT value FROM rules WHERE name = 'fibers_micro_count')
      AND very_short_percent >= (SELECT value FROM rules WHERE name = 'fibers_micro_percent')
   OR schedulers >= 2 AND busiest_percent >= (SELECT value FROM rules WHERE name = 'fibers_imbalance_percent');
