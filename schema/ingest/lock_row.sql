-- One lock of a recorded window, profile :profile.
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                  max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns,
                  timeouts, unfinished, failed_tries, condition_waits, timed_holds, first_trace_id)
VALUES (:profile, :object, :address, :trace, :kind, :acquires, :contended, :wait, :wait_max, :hold,
        :hold_max, :read_acquires, :read_contended, :read_wait, :read_wait_max,
        :timeouts, :unfinished, :failed_tries, :condition_waits, :timed_holds, :first);
