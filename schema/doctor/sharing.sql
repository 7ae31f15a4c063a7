DROP VIEW IF EXISTS doctor_sharing;
CREATE VIEW doctor_sharing AS
-- Question: which cache lines do threads take from each other?
-- Rows: one per run and cache line with a finding, of ingested recordings of `perf c2c record` (profiles of the kind c2c). A sample with
--   HITM is a load that had to fetch the line from another core, which had changed it.
-- Columns: those of doctor, and
--   trace_id [id]: the stack with the most HITM on the line
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places, of the source
--   module [text]: as in the view places
--   cache_line [text]: its first address, of the run's process, "0x..."
--   hitm [count]: samples of loads that fetched it from another core
--   hitm_percent [percent]: that, of all HITM of the run, a whole number
--   false_hitm [count]: those at addresses that no other thread used
--   false_percent [percent]: that, of hitm, a whole number
--   stores [count]: samples of stores to the line
--   threads [count]: that used it
--   addresses [count]: different ones that were used in it
--   latency_cycles [count]: cycles of a load, the mean of those on the line; NULL: not measured
-- Thresholds (names are rows of the table rules):
--   false-sharing: hitm >= sharing_hitm_count (10), hitm_percent >= sharing_percent (10 %), two threads, and false_percent >=
--   sharing_false_percent (50 %). true-sharing: the same, with a smaller false_percent.
-- Severity: that of the advice. A recording of HITM does not tell the share of the run's time.
-- Known false positives: an address that several threads use, but so rarely that one alone was sampled; variables that a thread reads in
--   pieces of other sizes than another writes it.
SELECT
    sharing_facts.run_id, 'sharing' AS section, substr(advice.code, 9) AS code, advice.severity,
    CASE variable WHEN '' THEN '' ELSE variable || ' ' END || cache_line AS subject,
    json_object('hitm', hitm, 'hitm_percent', hitm_percent, 'false_hitm', false_hitm, 'false_percent', false_percent, 'stores', stores,
                'threads', threads, 'addresses', addresses, 'latency_cycles', latency_cycles) AS evidence,
    '[' || sharing_facts.trace_id || CASE WHEN writer_trace_id = 0 THEN '' ELSE ',' || writer_trace_id END || ']' AS trace_ids,
    advice.text AS advice, places.trace_id, places.function, places.file, places.line, places.module, cache_line, hitm, hitm_percent, false_hitm,
    false_percent, stores, threads, addresses, latency_cycles
FROM sharing_facts
JOIN advice
    ON advice.code = CASE WHEN hitm < (SELECT value FROM rules WHERE name = 'sharing_hitm_count')
                               OR hitm_percent < (SELECT value FROM rules WHERE name = 'sharing_percent') THEN 'sharing-none'
                          WHEN false_percent >= (SELECT value FROM rules WHERE name = 'sharing_false_percent') THEN 'sharing-false-sharing'
                          ELSE 'sharing-true-sharing' END
JOIN places ON places.trace_id = sharing_facts.trace_id;
