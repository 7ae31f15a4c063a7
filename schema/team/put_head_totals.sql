-- The totals of run ?1, as schema/ingest/run_totals.sql keeps them of a whole run.
INSERT OR REPLACE INTO run_totals(run_id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, lock_acquires, lock_contended,
                                  lock_wait_ns, cpu_ns, recorder_cpu_ns, dropped, truncated, sample_n, sample_bytes)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
