INSERT INTO convoy_depth_facts(run_id, process_id, address, waiters, count)
VALUES (:run, :process, :address, :waiters, :count)
