-- From version 5 to 6: what was copied into a larger block by hand, beside what realloc did.

ALTER TABLE site_details ADD COLUMN replaced_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN copy_step_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN copy_step_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site_details ADD COLUMN copy_growth_bytes INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 6;
