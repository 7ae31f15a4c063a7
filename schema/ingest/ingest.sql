-- The statements of ingest/read/ingest.c.

-- @cells_bulk: Cells of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries,
                          update_failures)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9
FROM memory_rows;

-- @channels_bulk: Channels of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
                             push_blocked_ns, pop_blocked_ns)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10
FROM memory_rows;

-- @cpu_bulk: CPU samples of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
SELECT c0, c1, c2, c3, c4
FROM memory_rows;

-- @heap_peaks_bulk: What stacks had live at the peak of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes)
SELECT c0, c1, c2, c3
FROM memory_rows;

-- @histograms_bulk: Buckets of histograms of blocks of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO histograms(profile_id, trace_id, histogram, from_value, count)
SELECT c0, c1, c2, c3, c4
FROM memory_rows;

-- @io_bulk: Calls of input and output of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO io(profile_id, trace_id, call, calls, bytes, time_ns)
SELECT c0, c1, c2, c3, c4, c5
FROM memory_rows;

-- @leaks_bulk: Lost blocks of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO leaks(profile_id, trace_id, lost_count, lost_bytes, indirect_count, indirect_bytes)
SELECT c0, c1, c2, c3, c4, c5
FROM memory_rows;

-- @maps_bulk: Mappings of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes)
SELECT c0, c1, c2, c3, c4, c5, c6, c7
FROM memory_rows;

-- @spins_bulk: What waits without blocking of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO spins(profile_id, trace_id, yields, short_sleeps, sleep_ns, failed_tries)
SELECT c0, c1, c2, c3, c4, c5
FROM memory_rows;

-- @thread_starts_bulk: Threads that were started of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO thread_starts(profile_id, trace_id, started, life_ns)
SELECT c0, c1, c2, c3
FROM memory_rows;

-- @locks_bulk: Locks of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                          max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14
FROM memory_rows;

-- @process_read: A process of a run that comes from a file.
INSERT INTO processes(run_id, pid, ppid, executable, build_id, started_ns, ended_ns)
VALUES (:run, :pid, :ppid, :executable, :build_id, :started, :ended);

-- @profile_read: A profile of a run that comes from a file.
INSERT INTO profiles(run_id, process_id, kind, time_ns, duration_ns, period, period_type, period_unit, sample_types,
                     default_type, comments, drop_frames, keep_frames, doc_url, mappings, dropped, truncated, sample_n)
VALUES (:run, :process, :kind, :time, :duration, :period, :period_type, :period_unit, :types,
        :default_type, :comments, :drop, :keep, :url, :mappings, :dropped, :truncated, :sample_n);

-- @run_lasted: A file of a directory says how long its run :run lasted.
UPDATE runs SET duration_ns = max(duration_ns, :duration) WHERE id = :run;

-- @run_read: A run that comes from a file.
INSERT INTO runs(uuid, command, label, started_ns, duration_ns, host, source, content_hash, sample_n, flags)
VALUES (:uuid, :command, :label, :started, :duration, :host, :source, :hash, :sample_n, :flags);

-- @samples_bulk: Samples of other types of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO samples(profile_id, trace_id, label_set_id, v0, v1, v2, v3, v4, v5, v6, v7, more)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11
FROM memory_rows;
