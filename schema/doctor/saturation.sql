DROP VIEW IF EXISTS doctor_saturation;
CREATE VIEW doctor_saturation AS
-- Question: is what this run recorded all there was? Read these rows before all others.
-- Rows: one per run, code and kind of profile; of warnings one per run and text. Several codes may be true at once.
-- Columns: those of doctor, and
--   count [unit of the code]: dropped, truncated, unseen-waits: events, stacks, waits; sampled: N; sampled-bytes, before: bytes; slow-flush, paused,
--     attached: milliseconds; warning: profiles with this text; unfinished: 1
--   recorded [count]: of code dropped: events of the kind that were recorded; of unseen-waits: waits that were; NULL: unknown
--   percent [percent]: of code dropped: the lost events of all events; of unseen-waits: the unseen of all; a whole number; NULL:
--     unknown
-- Thresholds (names are rows of the table rules):
--   dropped: events could not be recorded. A note below dropped_note_percent (1 %); of CPU samples below dropped_cpu_note_percent
--     (5 %) or dropped_cpu_note_count (10) samples.
--   truncated: stacks were cut.
--   sampled: only every Nth event was recorded, and counted N times.
--   sampled-bytes: allocations were Poisson-sampled by size; values are unbiased estimates.
--   slow-flush: the recorder wrote for at least recorder_flush_ms (1,000 ms) and recorder_flush_percent (10 %) of the run.
--   attached: the program ran already; the figure is for how long.
--   before: what it had allocated then; of subject heap by its allocator, of subject memory all of its own memory.
--   paused: recording was switched off for a part of the run.
--   unseen-waits: threads gave the processor away by themselves (voluntary context switches of the program and the children that it
--     waited for) unseen_waits_count (1,000) times or more than waits were recorded, and those are unseen_waits_percent (50 %) of all.
--   unfinished: the recorder did not see the end of the run.
--   warning: the ingested file says "WARNING: ..." itself.
-- Severity: that of the advice, but for the notes above.
-- Known false positives: unseen-waits of a program that reads, writes and sleeps: it waits for nothing that is a lock. dropped counts events, not bytes: what was lost may have been small or large.
SELECT
    loss_facts.run_id,
    'saturation' AS section,
    loss_facts.code,
    CASE WHEN percent < (SELECT value FROM rules WHERE name = 'dropped_note_percent') THEN 'note'
         WHEN subject = 'cpu' AND recorded > 0
              AND (percent < (SELECT value FROM rules WHERE name = 'dropped_cpu_note_percent')
                   OR count < (SELECT value FROM rules WHERE name = 'dropped_cpu_note_count')) THEN 'note'
         ELSE advice.severity END AS severity,
    subject,
    CASE WHEN loss_facts.code IN ('dropped', 'unseen-waits') THEN json_object('count', count, 'recorded', recorded, 'percent', percent)
         ELSE json_object('count', count) END AS evidence,
    '[]' AS trace_ids,
    advice.text AS advice,
    count, recorded, percent
FROM loss_facts
JOIN run_facts ON run_facts.run_id = loss_facts.run_id
JOIN advice ON advice.code = 'saturation-' || loss_facts.code
WHERE CASE loss_facts.code
          WHEN 'slow-flush'
          THEN CASE WHEN count >= (SELECT value FROM rules WHERE name = 'recorder_flush_ms')
                         AND coalesce(round(count * 1e8 / nullif(duration_ns, 0)), 100)
                             >= (SELECT value FROM rules WHERE name = 'recorder_flush_percent') THEN 1 END
          WHEN 'unseen-waits'
          THEN CASE WHEN count >= (SELECT value FROM rules WHERE name = 'unseen_waits_count')
                         AND 100.0 * count >= (count + recorded) * (SELECT value FROM rules WHERE name = 'unseen_waits_percent') THEN 1 END
          ELSE 1 END = 1;
