-- The change of :figure of :subject in the run :run is not accepted any more.
DELETE FROM accepted_changes
WHERE run_uuid = (SELECT uuid FROM runs WHERE id = :run) AND figure = :figure AND subject = :subject;
