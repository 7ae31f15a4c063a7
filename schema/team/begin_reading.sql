-- Settings of the transaction of a query: the time limit $1 in ms (0: none), the project $2, where names are looked for, and the role.
SELECT
    set_config('statement_timeout', $1, true),
    set_config('jit', 'off', true), -- compiling a view takes longer than most queries
    set_config('clear.project', $2, true),
    set_config('search_path', 'clear_views, pg_catalog, clear, pg_temp', true),
    CASE WHEN EXISTS (SELECT 1
                      FROM pg_roles
                      WHERE rolname = 'clear_read' AND pg_has_role(current_user, oid, 'MEMBER'))
         THEN set_config('role', 'clear_read', true) END
