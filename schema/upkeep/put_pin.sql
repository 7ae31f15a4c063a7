-- Run :run is kept from now on. Pinned twice, it has the later reason.
INSERT INTO pins(run_id, why, pinned_ns)
VALUES (:run, :why, :now)
ON CONFLICT (run_id) DO UPDATE
SET why = excluded.why, pinned_ns = excluded.pinned_ns
