-- Keeps the totals of the sealed run :run: the same sums as those of the view run_summary for a run without a row here. Of sites and locks the
-- facts have the sums of windows; where they have none, sums beyond 64 bits among them, the rows are read.
INSERT OR REPLACE INTO run_totals(run_id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, lock_acquires, lock_contended,
                                  lock_wait_ns, cpu_ns, recorder_cpu_ns, dropped, truncated, sample_n, sample_bytes)
SELECT :run, coalesce(heap.alloc_count, 0), coalesce(heap.alloc_bytes, 0), coalesce(heap.inuse_count, 0), coalesce(heap.inuse_bytes, 0),
       coalesce(peak.bytes, 0),
       coalesce(lock.acquires, 0), coalesce(lock.contended, 0), coalesce(lock.wait_ns, 0),
       coalesce(processor.cpu_ns, 0), coalesce(processor.recorder_cpu_ns, 0),
       coalesce(losses.dropped, 0), coalesce(losses.truncated, 0), max(1, coalesce(losses.sample_n, 1)),
       max(1, coalesce(losses.sample_bytes, 1))
FROM (SELECT sum(alloc_count) AS alloc_count, sum(alloc_bytes) AS alloc_bytes, sum(inuse_count) AS inuse_count, sum(inuse_bytes) AS inuse_bytes
      FROM (SELECT alloc_count, alloc_bytes, inuse_count, inuse_bytes
            FROM function_facts
            WHERE run_id = :run
            UNION ALL
            SELECT alloc_count, alloc_bytes, alloc_count - free_count, alloc_bytes - free_bytes
            FROM profiles
            JOIN sites ON sites.profile_id = profiles.id
            WHERE run_id = :run AND NOT EXISTS (SELECT 1 FROM function_facts WHERE run_id = :run))) AS heap,
     (SELECT sum(peak_bytes) AS bytes
      FROM profiles
      JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
      WHERE run_id = :run) AS peak,
     (SELECT sum(acquires) AS acquires, sum(contended) AS contended, sum(wait_ns) AS wait_ns
      FROM (SELECT acquires + read_acquires AS acquires, contended + read_contended + timeouts + unfinished AS contended,
                   wait_ns + read_wait_ns AS wait_ns
            FROM profiles
            JOIN lock_use_facts AS used ON used.profile_id = profiles.id
            WHERE run_id = :run
            UNION ALL
            SELECT acquires + read_acquires, contended + read_contended + timeouts + unfinished, wait_ns + read_wait_ns
            FROM profiles
            JOIN locks ON locks.profile_id = profiles.id
            WHERE run_id = :run AND profiles.kind <> 'wait'
              AND NOT EXISTS (SELECT 1
                              FROM profiles AS own
                              JOIN lock_use_facts AS used ON used.profile_id = own.id
                              WHERE own.run_id = :run))) AS lock,
     (SELECT sum(cpu_ns) FILTER (WHERE kind <> 'recorder') AS cpu_ns, sum(cpu_ns) FILTER (WHERE kind = 'recorder') AS recorder_cpu_ns
      FROM profiles
      JOIN cpu ON cpu.profile_id = profiles.id
      WHERE run_id = :run) AS processor,
     (SELECT sum(dropped) AS dropped, sum(truncated) AS truncated, max(sample_n) AS sample_n,
             max(period) FILTER (WHERE kind = 'heap' AND period_type = 'space' AND sample_n <= 1) AS sample_bytes
      FROM profiles
      WHERE run_id = :run) AS losses
