-- The settings of every session. Texts are bytes that any client reads the same, not the session's taste. Nobody waits for a table longer than a
-- minute, and who stops in the middle of a transaction loses it after five, unless the role or the address has other limits.
SET datestyle = ISO;
SET extra_float_digits = 1;
SET search_path = pg_catalog, pg_temp;
SELECT set_config(name, value, false)
FROM (VALUES ('lock_timeout', '1min'), ('idle_in_transaction_session_timeout', '5min')) AS wanted(name, value)
WHERE current_setting(name) = '0'
