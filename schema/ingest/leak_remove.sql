-- A stack has lost nothing.
DELETE FROM leaks
WHERE profile_id = :profile AND trace_id = :trace;
