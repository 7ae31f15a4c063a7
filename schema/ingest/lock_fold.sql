-- Adds the locks of profile :from to those of profile :into.
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                  max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns,
                  timeouts, unfinished, failed_tries, condition_waits, timed_holds, signals, broadcasts,
                  futile_wakes, woken, own_wakes, mutex_address, first_trace_id)
SELECT :into, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
       max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns,
       timeouts, unfinished, failed_tries, condition_waits, timed_holds, signals, broadcasts,
       futile_wakes, woken, own_wakes, mutex_address, first_trace_id
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
    mutex_address = max(mutex_address, excluded.mutex_address),
    first_trace_id = max(first_trace_id, excluded.first_trace_id);
