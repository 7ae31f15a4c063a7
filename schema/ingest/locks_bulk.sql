-- Locks of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                          max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14
FROM memory_rows;
