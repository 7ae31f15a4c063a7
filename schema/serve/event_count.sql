-- How many events run :run has.
SELECT count(*) FROM events JOIN processes ON processes.id = events.process_id WHERE processes.run_id = :run;
