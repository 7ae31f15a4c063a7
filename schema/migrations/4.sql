-- From version 3 to 4: how realloc resizes blocks.

ALTER TABLE site_details ADD COLUMN realloc_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN resized_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN resized_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN step_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN step_bytes INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 4;
