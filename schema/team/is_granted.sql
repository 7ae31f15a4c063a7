-- One row where the roles of clear store grant may use this store.
SELECT 1
FROM pg_roles
WHERE rolname = 'clear_push' AND has_schema_privilege(oid, 'clear', 'USAGE')
  AND EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'clear_read')
