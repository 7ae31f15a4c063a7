DROP VIEW IF EXISTS window_roles;
CREATE VIEW window_roles AS
-- Question: is a profile all that there is of its process and kind, or one of several windows that have to be added?
-- Rows: one per profile. The views heap and cpu_use take the rows of an only profile as they are, and add those of windows.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process; NULL for an ingested profile
--   kind [text]: heap, lock, cpu and so on
--   profile_id [id]: the profile
--   role [text]: only: the process has no other profile of this kind, or it is an ingested profile; newest: it is the newest of several
--     windows; older: it is one of the others
SELECT
    run_id,
    process_id,
    kind,
    id AS profile_id,
    CASE WHEN NOT EXISTS (SELECT 1
                          FROM profiles AS other
                          WHERE other.process_id = profiles.process_id AND other.kind = profiles.kind
                            AND other.run_id = profiles.run_id AND other.id <> profiles.id)
         THEN 'only'
         WHEN EXISTS (SELECT 1
                      FROM profiles AS newer
                      WHERE newer.process_id = profiles.process_id AND newer.kind = profiles.kind
                        AND newer.run_id = profiles.run_id AND newer.id > profiles.id)
         THEN 'older'
         ELSE 'newest' END AS role
FROM profiles;
