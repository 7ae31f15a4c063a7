-- What the finding :section, :code of run :run costs by its :evidence, for the first lines of a doctor's report: a verb, the figure, its unit, and what
-- it is a share of, with the name of that; a row for each figure that the evidence has, the best first. A code that is not named has the last rows.
-- Waits for a lock are counted without those for a processor.
WITH costs(place, section, code, verb, figure, unit, whole) AS (
    VALUES
        (1, 'heap', 'leak', 'keeps', 'inuse_bytes', 'bytes', 'live at the end'),
        (2, 'heap', 'rc', 'keeps', 'inuse_bytes', 'bytes', 'live at the end'),
        (3, 'heap', 'growth', 'grows by', 'growth_bytes', 'bytes', ''),
        (4, 'heap', 'peak', 'takes', 'peak_bytes', 'bytes', 'live at the peak'),
        (5, 'heap', 'quadratic-growth', 'copies up to', 'step_bytes', 'bytes', ''),
        (6, 'heap', '', 'makes', 'alloc_count', 'count', 'blocks'),
        (7, 'freeze', '', 'makes', 'alloc_count', 'count', 'blocks'),
        (8, 'cell', 'cow-thrash', 'copies', 'cow_bytes', 'bytes', ''),
        (9, 'wait', 'herd', 'costs', 'switch_ns', 'ns', 'the run'),
        (10, 'trace', 'long-region', 'took', 'max_ns', 'ns', 'the run'),
        (11, 'processors', '', 'kept threads waiting for', 'run_delay_ns', 'ns', 'thread time'),
        (12, 'saturation', 'dropped', 'lacks', 'count', 'count', ''),
        (13, 'line', 'leak', 'loses', 'lost_bytes', 'bytes', 'live at the end'),
        (14, '', '', 'costs', 'cost_ns', 'ns', 'the run'),
        (15, '', '', 'costs', 'wait_ns', 'ns', 'thread time'),
        (16, '', '', 'costs', 'time_ns', 'ns', 'thread time'),
        (17, '', '', 'costs', 'cpu_ns', 'ns', 'CPU time'),
        (18, 'memory', '', 'wastes', 'unused_bytes', 'bytes', '')
)
SELECT
    verb,
    CAST(json_extract(:evidence, '$.' || figure) AS INTEGER)
        - iif(:section = 'lock' AND figure = 'wait_ns', coalesce(json_extract(:evidence, '$.wait_delay_ns'), 0), 0) AS value,
    unit,
    CASE whole WHEN 'live at the end' THEN (SELECT inuse_bytes FROM run_summary WHERE run_id = :run)
               WHEN 'live at the peak' THEN (SELECT peak_bytes FROM run_summary WHERE run_id = :run)
               WHEN 'blocks' THEN (SELECT alloc_count FROM run_summary WHERE run_id = :run)
               WHEN 'the run' THEN (SELECT duration_ns FROM run_facts WHERE run_id = :run)
               WHEN 'thread time' THEN (SELECT CASE :section WHEN 'lock' THEN lock_ns ELSE thread_ns END FROM run_facts WHERE run_id = :run)
               WHEN 'CPU time' THEN (SELECT cpu_ns FROM run_facts WHERE run_id = :run) END AS whole_value,
    iif(whole IN ('the run', 'thread time', 'CPU time'), 'of ', '') || whole AS whole_name
FROM costs
WHERE section IN ('', :section) AND code IN ('', :code)
  AND (:section NOT IN ('heap', 'freeze', 'saturation') OR section = :section)
  AND json_extract(:evidence, '$.' || figure) > 0
ORDER BY place
LIMIT 1
