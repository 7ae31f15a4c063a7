-- A pin of run :run, unless it has one.
INSERT OR IGNORE INTO main.pins(run_id, why, pinned_ns)
VALUES (:run, :why, :pinned)
