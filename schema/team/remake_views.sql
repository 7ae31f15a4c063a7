-- Of the views nothing is left. They are made again when all tables are there.
DROP SCHEMA IF EXISTS clear_rows CASCADE;
DROP SCHEMA IF EXISTS clear_views CASCADE
