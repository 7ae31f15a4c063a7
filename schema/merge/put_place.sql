-- Where exports list a stack, label set or object of run :run.
INSERT INTO main.run_places(run_id, thing, id, place)
VALUES (:run, :thing, :id, :place)
