-- Begins the statements series_*.sql. `series` is the profiles before :profile that its figures go on from, the newest restart and
-- later: of the same kind, label and main binary. Go's mutex and block profiles are of one kind and differ in nothing but their stacks:
-- those of a mutex profile unlock it, those of a block profile wait. :releases says which of the two :profile is.
WITH this AS (
    SELECT runs.id, runs.label, profiles.kind, json_extract(profiles.mappings, '$[0]') AS main
    FROM runs
    JOIN profiles ON profiles.run_id = runs.id
    WHERE profiles.id = :profile),
kin AS (
    SELECT runs.id AS run_id, runs.flags, runs.started_ns, profiles.id AS profile_id
    FROM this
    JOIN runs ON runs.id < this.id AND runs.label IS this.label AND instr(runs.flags, 'cumulative')
    JOIN profiles ON profiles.run_id = runs.id AND profiles.kind = this.kind
                 AND json_extract(profiles.mappings, '$[0]') IS this.main
    WHERE profiles.kind <> 'lock'
       OR :releases = EXISTS (SELECT 1
                              FROM locks
                              JOIN traces ON traces.id = trace_id
                              JOIN functions ON functions.id = function_id
                              WHERE profile_id = profiles.id AND functions.name GLOB '*[uU]nlock*')),
series AS (
    SELECT *
    FROM kin
    WHERE run_id >= coalesce((SELECT max(run_id) FROM kin WHERE instr(flags, 'restart')), 0))
