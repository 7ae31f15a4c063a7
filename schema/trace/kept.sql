-- How many events of a run are kept, and how many were lost.
SELECT (SELECT count(*)
        FROM processes
        JOIN events ON events.process_id = processes.id
        WHERE processes.run_id = :run) AS kept,
       (SELECT total(lost_events) FROM processes WHERE run_id = :run) AS lost;
