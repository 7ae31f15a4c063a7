-- Events of threads, of the memory of the process that records them, or of a foreign trace: only those of Go have stacks, addresses and owners.
INSERT OR FAIL INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid, is_late, value)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 FROM memory_rows;
