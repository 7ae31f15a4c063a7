-- What is waited for and is no lock, in a recorded window, profile :profile.
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, timeouts,
                  unfinished, failed_tries, signals, broadcasts, futile_wakes, woken, own_wakes, mutex_address, first_trace_id)
VALUES (:profile, :object, :address, :trace, :kind, :passes, :waited, :wait, :wait_max, :timeouts,
        :unfinished, :failed_tries, :signals, :broadcasts, :futile, :woken, :own_wakes, :guard, :first);
