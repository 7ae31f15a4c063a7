-- From version 8 to 9: loops that only ask memory again.

CREATE TABLE spin_loops (
    -- An instruction that CPU samples of a recorded process met, in a loop that only asks memory again: it stores nothing, calls nothing, and keeps
    -- nothing from one turn to the next. Told by the code of its file when the run ended.
    process_id   INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    location_id  INTEGER NOT NULL REFERENCES locations(id), -- [id] the instruction
    head         INTEGER NOT NULL, -- [address] of the first instruction of the loop, in the same mapping
    instructions INTEGER NOT NULL, -- [count] instructions of a turn
    has_pause    INTEGER NOT NULL, -- [0 or 1] one of them is a pause, which is made for such loops
    PRIMARY KEY (process_id, location_id)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 9;
