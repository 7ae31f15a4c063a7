-- May the user change runs of the store? And who may.
SELECT pg_has_role(current_user, relowner, 'USAGE'), pg_get_userbyid(relowner)
FROM pg_class
WHERE oid = 'clear.run_names'::regclass
