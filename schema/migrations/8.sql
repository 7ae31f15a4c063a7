-- From version 7 to 8: wakes that were lost, and sleeps of a millisecond and more.

ALTER TABLE locks ADD COLUMN lost_wakes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spins ADD COLUMN naps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spins ADD COLUMN nap_ns INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 8;
