-- The runs in the order of the view run_order, without the first :back. Where that view numbers all runs, this reads from an index those
-- that are asked for. (LIMIT keeps the order of each half.)
SELECT id
FROM (SELECT id
      FROM runs
      WHERE NOT ((' ' || flags || ' ') GLOB '* unfinished *' AND NOT EXISTS (SELECT 1 FROM profiles WHERE run_id = runs.id))
      ORDER BY started_ns DESC, id DESC
      LIMIT -1)
UNION ALL
SELECT id
FROM (SELECT id
      FROM runs
      WHERE (' ' || flags || ' ') GLOB '* unfinished *' AND NOT EXISTS (SELECT 1 FROM profiles WHERE run_id = runs.id)
      ORDER BY started_ns DESC, id DESC
      LIMIT -1)
LIMIT -1 OFFSET :back
