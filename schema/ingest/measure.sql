-- The statements of ingest/record/measure.c.

-- @cell_fold: Adds the cells of profile :from to those of profile :into.
INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures)
SELECT :into, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures
FROM cells
WHERE profile_id = :from
ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE
SET struct_size = max(struct_size, excluded.struct_size),
    reads = reads + excluded.reads,
    commits = commits + excluded.commits,
    multi_commits = multi_commits + excluded.multi_commits,
    retries = retries + excluded.retries,
    update_failures = update_failures + excluded.update_failures;

-- @cell_row: One cell of a recorded window, profile :profile.
INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures)
VALUES (:profile, :object, :address, :trace, :struct_size, :reads, :commits, :multi_commits, :retries, :update_failures);

-- @channel_fold: Adds the channels of profile :from to those of profile :into.
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
                     push_blocked_ns, pop_blocked_ns)
SELECT :into, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
       push_blocked_ns, pop_blocked_ns
FROM channels
WHERE profile_id = :from
ON CONFLICT (profile_id, object_id, channel) DO UPDATE
SET capacity = max(capacity, excluded.capacity),
    pushes = pushes + excluded.pushes,
    pops = pops + excluded.pops,
    push_blocked = push_blocked + excluded.push_blocked,
    pop_blocked = pop_blocked + excluded.pop_blocked,
    max_depth = max(max_depth, excluded.max_depth),
    push_blocked_ns = push_blocked_ns + excluded.push_blocked_ns,
    pop_blocked_ns = pop_blocked_ns + excluded.pop_blocked_ns;

-- @channel_row: One channel of a recorded window, profile :profile.
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
                     push_blocked_ns, pop_blocked_ns)
VALUES (:profile, :object, :channel, :capacity, :pushes, :pops, :push_blocked, :pop_blocked, :max_depth,
        :push_blocked_ns, :pop_blocked_ns);

-- @cpu_fold: Adds the CPU samples of profile :from to those of profile :into.
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
SELECT :into, trace_id, label_set_id, samples, cpu_ns
FROM cpu
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE
SET samples = samples + excluded.samples,
    cpu_ns = cpu_ns + excluded.cpu_ns;

-- @cpu_row: The CPU time of one stack and label set in a recorded window, profile :profile.
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
VALUES (:profile, :trace, :labels, :samples, :cpu_ns);

-- @fibers_fold: Adds the totals of the fibers of profile :from to those of profile :into.
INSERT INTO fibers(profile_id, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns)
SELECT :into, total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns
FROM fibers
WHERE profile_id = :from
ON CONFLICT (profile_id) DO UPDATE
SET total_fibers = total_fibers + excluded.total_fibers,
    short_fibers = short_fibers + excluded.short_fibers,
    very_short_fibers = very_short_fibers + excluded.very_short_fibers,
    total_lifetime_ns = total_lifetime_ns + excluded.total_lifetime_ns,
    max_lifetime_ns = max(max_lifetime_ns, excluded.max_lifetime_ns);

-- @heap_fold: Adds the allocation sites of profile :from to those of profile :into. Bytes that are NULL in both stay NULL: the blocks of such a
-- site have one size (schema/tables).
INSERT INTO site_rows(profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes)
SELECT :into, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes
FROM site_rows
WHERE profile_id = :from
ON CONFLICT (profile_id, site_key_id) DO UPDATE
SET alloc_count = alloc_count + excluded.alloc_count,
    free_count = free_count + excluded.free_count,
    alloc_bytes = iif(site_rows.alloc_bytes IS NULL AND excluded.alloc_bytes IS NULL, NULL,
        coalesce(site_rows.alloc_bytes,
                 site_rows.alloc_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id))
        + coalesce(excluded.alloc_bytes,
                   excluded.alloc_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id))),
    free_bytes = iif(site_rows.free_bytes IS NULL AND excluded.free_bytes IS NULL, NULL,
        coalesce(site_rows.free_bytes,
                 site_rows.free_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id))
        + coalesce(excluded.free_bytes,
                   excluded.free_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id)));

-- @heap_peak_remove: A stack had nothing live at the newest peak.
DELETE FROM heap_peaks
WHERE profile_id = :profile AND trace_id = :trace;

-- @heap_peak_row: What one stack had live at the peak of its process, profile :profile.
INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes)
VALUES (:profile, :trace, :peak_count, :peak_bytes)
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET peak_count = excluded.peak_count,
    peak_bytes = excluded.peak_bytes;

-- @histogram_fold: Adds the histograms of profile :from to those of profile :into.
INSERT INTO histograms(profile_id, trace_id, histogram, from_value, count)
SELECT :into, trace_id, histogram, from_value, count
FROM histograms
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, histogram, from_value) DO UPDATE
SET count = count + excluded.count;

-- @histogram_row: A bucket of a histogram of one allocation site in a recorded window, profile :profile.
INSERT INTO histograms(profile_id, trace_id, histogram, from_value, count)
VALUES (:profile, :trace, :histogram, :from, :count);

-- @io_fold: Adds the calls of profile :from to those of profile :into.
INSERT INTO io(profile_id, trace_id, call, calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time_ns,
               max_time_ns, timed_calls)
SELECT :into, trace_id, call, calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time_ns,
       max_time_ns, timed_calls
FROM io
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, call) DO UPDATE
SET calls = calls + excluded.calls,
    bytes = bytes + excluded.bytes,
    errors = errors + excluded.errors,
    would_block = would_block + excluded.would_block,
    small_calls = small_calls + excluded.small_calls,
    small_bytes = small_bytes + excluded.small_bytes,
    short_calls = short_calls + excluded.short_calls,
    time_ns = time_ns + excluded.time_ns,
    max_time_ns = max(max_time_ns, excluded.max_time_ns),
    timed_calls = timed_calls + excluded.timed_calls;

-- @io_row: Calls of input and output of one stack in a recorded window, profile :profile.
INSERT INTO io(profile_id, trace_id, call, calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time_ns,
               max_time_ns, timed_calls)
VALUES (:profile, :trace, :call, :calls, :bytes, :errors, :would_block, :small_calls, :small_bytes, :short_calls, :time,
        :time_max, :timed_calls);

-- @leak_remove: A stack has lost nothing.
DELETE FROM leaks
WHERE profile_id = :profile AND trace_id = :trace;

-- @leak_row: What nothing reached when the process of profile :profile ended, of one stack.
INSERT INTO leaks(profile_id, trace_id, lost_count, lost_bytes, indirect_count, indirect_bytes)
VALUES (:profile, :trace, :lost_count, :lost_bytes, :indirect_count, :indirect_bytes)
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET lost_count = excluded.lost_count,
    lost_bytes = excluded.lost_bytes,
    indirect_count = excluded.indirect_count,
    indirect_bytes = excluded.indirect_bytes;

-- @lock_fold: Adds the locks of profile :from to those of profile :into.
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                  max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns,
                  timeouts, unfinished, failed_tries, condition_waits, timed_holds, signals, broadcasts,
                  futile_wakes, woken, own_wakes, lost_wakes, mutex_address, first_trace_id, wait_seen_ns,
                  wait_delay_ns, hold_delay_ns)
SELECT :into, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
       max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns,
       timeouts, unfinished, failed_tries, condition_waits, timed_holds, signals, broadcasts,
       futile_wakes, woken, own_wakes, lost_wakes, mutex_address, first_trace_id, wait_seen_ns, wait_delay_ns, hold_delay_ns
FROM locks
WHERE profile_id = :from
ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE
SET acquires = acquires + excluded.acquires,
    contended = contended + excluded.contended,
    wait_ns = wait_ns + excluded.wait_ns,
    max_wait_ns = max(max_wait_ns, excluded.max_wait_ns),
    hold_ns = hold_ns + excluded.hold_ns,
    max_hold_ns = max(max_hold_ns, excluded.max_hold_ns),
    read_acquires = read_acquires + excluded.read_acquires,
    read_contended = read_contended + excluded.read_contended,
    read_wait_ns = read_wait_ns + excluded.read_wait_ns,
    read_max_wait_ns = max(read_max_wait_ns, excluded.read_max_wait_ns),
    timeouts = timeouts + excluded.timeouts,
    unfinished = unfinished + excluded.unfinished,
    failed_tries = failed_tries + excluded.failed_tries,
    condition_waits = condition_waits + excluded.condition_waits,
    timed_holds = timed_holds + excluded.timed_holds,
    signals = signals + excluded.signals,
    broadcasts = broadcasts + excluded.broadcasts,
    futile_wakes = futile_wakes + excluded.futile_wakes,
    woken = woken + excluded.woken,
    own_wakes = own_wakes + excluded.own_wakes,
    lost_wakes = lost_wakes + excluded.lost_wakes,
    mutex_address = max(mutex_address, excluded.mutex_address),
    first_trace_id = max(first_trace_id, excluded.first_trace_id),
    wait_seen_ns = wait_seen_ns + excluded.wait_seen_ns,
    wait_delay_ns = wait_delay_ns + excluded.wait_delay_ns,
    hold_delay_ns = hold_delay_ns + excluded.hold_delay_ns;

-- @lock_row: One lock of a recorded window, profile :profile.
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                  max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns,
                  timeouts, unfinished, failed_tries, condition_waits, timed_holds, first_trace_id, wait_seen_ns, wait_delay_ns,
                  hold_delay_ns)
VALUES (:profile, :object, :address, :trace, :kind, :acquires, :contended, :wait, :wait_max, :hold,
        :hold_max, :read_acquires, :read_contended, :read_wait, :read_wait_max,
        :timeouts, :unfinished, :failed_tries, :condition_waits, :timed_holds, :first, :wait_seen, :wait_delay, :hold_delay);

-- @map_fold: Adds the mappings of profile :from to those of profile :into.
INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes)
SELECT :into, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes
FROM maps
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, use) DO UPDATE
SET map_count = map_count + excluded.map_count,
    map_bytes = map_bytes + excluded.map_bytes,
    unmap_count = unmap_count + excluded.unmap_count,
    unmap_bytes = unmap_bytes + excluded.unmap_bytes;

-- @map_row: Mappings of one stack in a recorded window, profile :profile.
INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes)
VALUES (:profile, :trace, :use, :labels, :map_count, :map_bytes, :unmap_count, :unmap_bytes);

-- @memory_fold: The memory of the process in profile :into, and what it was in :from: the most of both.
INSERT INTO counters(profile_id, name, value, unit)
SELECT :into, name, value, unit
FROM counters
WHERE profile_id = :from AND name IN ('process.rss_bytes', 'process.heap_bytes')
ON CONFLICT (profile_id, name) DO UPDATE
SET value = max(value, excluded.value);

-- @delay_fold: Adds how long the threads of the process had no processor in profile :from to that of :into.
INSERT INTO counters(profile_id, name, value, unit)
SELECT :into, name, value, unit
FROM counters
WHERE profile_id = :from AND name = 'process.run_delay_ns'
ON CONFLICT (profile_id, name) DO UPDATE
SET value = value + excluded.value;

-- @schedulers_fold: Adds the schedulers of profile :from to those of profile :into.
INSERT INTO schedulers(profile_id, scheduler, fibers)
SELECT :into, scheduler, fibers
FROM schedulers
WHERE profile_id = :from
ON CONFLICT (profile_id, scheduler) DO UPDATE
SET fibers = fibers + excluded.fibers;

-- @site_details_fold: Adds the details of sites of profile :from to those of :into.
INSERT INTO site_details(profile_id, trace_id, temporary_count, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes,
                         realloc_bytes, resized_count, resized_bytes, step_count, step_bytes,
                         replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes)
SELECT :into, trace_id, temporary_count, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes,
       realloc_bytes, resized_count, resized_bytes, step_count, step_bytes,
       replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes
FROM site_details
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET temporary_count = temporary_count + excluded.temporary_count,
    calloc_count = calloc_count + excluded.calloc_count,
    aligned_count = aligned_count + excluded.aligned_count,
    realloc_count = realloc_count + excluded.realloc_count,
    moved_count = moved_count + excluded.moved_count,
    moved_bytes = moved_bytes + excluded.moved_bytes,
    realloc_bytes = realloc_bytes + excluded.realloc_bytes,
    resized_count = resized_count + excluded.resized_count,
    resized_bytes = resized_bytes + excluded.resized_bytes,
    step_count = step_count + excluded.step_count,
    step_bytes = step_bytes + excluded.step_bytes,
    replaced_count = replaced_count + excluded.replaced_count,
    copy_step_count = copy_step_count + excluded.copy_step_count,
    copy_step_bytes = copy_step_bytes + excluded.copy_step_bytes,
    copy_growth_bytes = copy_growth_bytes + excluded.copy_growth_bytes;

-- @site_details_row: More of one allocation site in a recorded window, profile :profile.
INSERT INTO site_details(profile_id, trace_id, temporary_count, calloc_count, aligned_count, realloc_count, moved_count, moved_bytes,
                         realloc_bytes, resized_count, resized_bytes, step_count, step_bytes,
                         replaced_count, copy_step_count, copy_step_bytes, copy_growth_bytes)
VALUES (:profile, :trace, :temporary, :calloc_count, :aligned_count, :realloc_count, :moved_count, :moved_bytes,
        :realloc_bytes, :resized_count, :resized_bytes, :step_count, :step_bytes,
        :replaced_count, :copy_step_count, :copy_step_bytes, :copy_growth_bytes);

-- @spin_fold: Adds the spins of profile :from to those of profile :into.
INSERT INTO spins(profile_id, trace_id, yields, short_sleeps, sleep_ns, failed_tries, naps, nap_ns)
SELECT :into, trace_id, yields, short_sleeps, sleep_ns, failed_tries, naps, nap_ns
FROM spins
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET yields = yields + excluded.yields,
    short_sleeps = short_sleeps + excluded.short_sleeps,
    sleep_ns = sleep_ns + excluded.sleep_ns,
    failed_tries = failed_tries + excluded.failed_tries,
    naps = naps + excluded.naps,
    nap_ns = nap_ns + excluded.nap_ns;

-- @spin_row: The yields, sleeps and failed tries of one stack in a recorded window, profile :profile.
INSERT INTO spins(profile_id, trace_id, yields, short_sleeps, sleep_ns, failed_tries, naps, nap_ns)
VALUES (:profile, :trace, :yields, :short_sleeps, :sleep, :failed_tries, :naps, :nap);

-- @task_sites_fold: Adds the task sites of profile :from to those of profile :into. `schedulers` is a JSON object, scheduler to runs: its values are
-- summed by key.
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form,
                       schedulers, kind, line, column)
SELECT :into, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form,
       schedulers, kind, line, column
FROM task_sites
WHERE profile_id = :from
ON CONFLICT (profile_id, site) DO UPDATE
SET spawns = spawns + excluded.spawns,
    runs = runs + excluded.runs,
    exits = exits + excluded.exits,
    total_lifetime_ns = total_lifetime_ns + excluded.total_lifetime_ns,
    max_lifetime_ns = max(max_lifetime_ns, excluded.max_lifetime_ns),
    schedulers = (SELECT json_group_object(key, runs)
                  FROM (SELECT key, sum(value) AS runs
                        FROM (SELECT key, value FROM json_each(task_sites.schedulers)
                              UNION ALL
                              SELECT key, value FROM json_each(excluded.schedulers))
                        GROUP BY key
                        ORDER BY CAST(key AS INTEGER)));

-- @thread_start_fold: Adds the threads of profile :from to those of profile :into.
INSERT INTO thread_starts(profile_id, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns)
SELECT :into, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns
FROM thread_starts
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET started = started + excluded.started,
    ended = ended + excluded.ended,
    life_ns = life_ns + excluded.life_ns,
    max_life_ns = max(max_life_ns, excluded.max_life_ns),
    short_count = short_count + excluded.short_count,
    short_ns = short_ns + excluded.short_ns;

-- @thread_start_row: The threads that one stack started, in a recorded window, profile :profile.
INSERT INTO thread_starts(profile_id, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns)
VALUES (:profile, :trace, :started, :ended, :life, :life_max, :short_count, :short_life);

-- @wait_row: What is waited for and is no lock, in a recorded window, profile :profile.
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, timeouts,
                  unfinished, failed_tries, signals, broadcasts, futile_wakes, woken, own_wakes, lost_wakes, mutex_address, first_trace_id)
VALUES (:profile, :object, :address, :trace, :kind, :passes, :waited, :wait, :wait_max, :timeouts,
        :unfinished, :failed_tries, :signals, :broadcasts, :futile, :woken, :own_wakes, :lost_wakes, :guard, :first);

-- @wall_fold: Adds the looks at threads of profile :from, of kind wall or off-cpu, to those of profile :into.
INSERT INTO samples(profile_id, trace_id, label_set_id, v0, v1)
SELECT :into, trace_id, label_set_id, v0, v1
FROM samples
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE
SET v0 = v0 + excluded.v0,
    v1 = v1 + excluded.v1;

-- @wall_row: Looks at threads with one stack and label set in a recorded window, profile :profile of kind wall or off-cpu.
INSERT INTO samples(profile_id, trace_id, label_set_id, v0, v1)
VALUES (:profile, :trace, :labels, :samples, :wall_ns);
