-- A stack had nothing live at the newest peak.
DELETE FROM heap_peaks
WHERE profile_id = :profile AND trace_id = :trace;
