-- From version 9 to 10: waits for locks that were for a processor.

ALTER TABLE locks ADD COLUMN wait_seen_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locks ADD COLUMN wait_delay_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locks ADD COLUMN hold_delay_ns INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 10;
