-- A store as a whole.

-- @session: The settings of every session. Texts are bytes that any client reads the same, not the session's taste. Nobody waits for a table
-- longer than a minute, and who stops in the middle of a transaction loses it after five, unless the role or the address has other limits.
SET datestyle = ISO;
SET extra_float_digits = 1;
SET search_path = pg_catalog, pg_temp;
SELECT set_config(name, value, false)
FROM (VALUES ('lock_timeout', '1min'), ('idle_in_transaction_session_timeout', '5min')) AS wanted(name, value)
WHERE current_setting(name) = '0'

-- @begin_reading: Settings of the transaction of a query: the time limit $1 in ms (0: none), the project $2, where names are looked for, and
-- the role.
SELECT
    set_config('statement_timeout', $1, true),
    set_config('jit', 'off', true), -- compiling a view takes longer than most queries
    set_config('clear.project', $2, true),
    set_config('search_path', 'clear_views, pg_catalog, clear, pg_temp', true),
    CASE WHEN EXISTS (SELECT 1
                      FROM pg_roles
                      WHERE rolname = 'clear_read' AND pg_has_role(current_user, oid, 'MEMBER'))
         THEN set_config('role', 'clear_read', true) END

-- @shape: What the store is made of: tables, views, their columns, functions, operators and triggers, as one sum. Partitions come and go.
-- What is not there, as after a restore that left something out, makes it another.
SELECT md5(string_agg(item, E'\n' ORDER BY item COLLATE "C"))
FROM (
    SELECT format('column %s.%s %s %s', relnamespace::regnamespace, relname, relkind, attname)
    FROM pg_class
    LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    WHERE relnamespace::regnamespace::text IN ('clear', 'clear_rows', 'clear_views') AND relkind IN ('r', 'p', 'v', 'S')
      AND NOT relispartition
    UNION ALL
    SELECT format('index %s', relname)
    FROM pg_class
    WHERE relnamespace::regnamespace::text = 'clear' AND relkind IN ('i', 'I') AND NOT relispartition
    UNION ALL
    SELECT format('function %s.%s %s', pronamespace::regnamespace, proname, md5(prosrc))
    FROM pg_proc
    WHERE pronamespace::regnamespace::text IN ('clear', 'clear_views')
    UNION ALL
    SELECT format('operator %s', oprname)
    FROM pg_operator
    WHERE oprnamespace::regnamespace::text = 'clear_views'
    UNION ALL
    SELECT format('trigger %s %s %s', tgrelid::regclass, tgname, tgenabled)
    FROM pg_trigger
    JOIN pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace::regnamespace::text = 'clear' AND NOT tgisinternal AND NOT relispartition) AS parts(item)

-- @put_meta: The row $1 of clear.meta is now $2.
INSERT INTO clear.meta(key, value) VALUES ($1, $2)
ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- @views_hash: Which views the store has.
SELECT value
FROM clear.meta
WHERE key = 'views_hash'

-- @is_granted: One row where the roles of clear store grant may use this store.
SELECT 1
FROM pg_roles
WHERE rolname = 'clear_push' AND has_schema_privilege(oid, 'clear', 'USAGE')
  AND EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'clear_read')

-- @is_owner: May the user change runs of the store? And who may.
SELECT pg_has_role(current_user, relowner, 'USAGE'), pg_get_userbyid(relowner)
FROM pg_class
WHERE oid = 'clear.run_names'::regclass

-- @put_shard: Project $1 is on the server at $2. No row where it has runs here.
INSERT INTO clear.shards(project, address)
SELECT $1, $2
WHERE NOT EXISTS (SELECT 1 FROM clear.runs WHERE project = $1::bigint)
ON CONFLICT (project) DO UPDATE SET address = excluded.address

-- @shards: The projects that are on other servers: name (of an older clear's row the number), address.
SELECT coalesce(projects.name, shards.project::text), shards.address
FROM clear.shards
LEFT JOIN clear.projects USING (project)
ORDER BY 1

-- @summary: The projects of a store: name, runs, the oldest and newest start [ns since epoch]. Those of other servers are not among
-- them, also while their runs are still here.
SELECT projects.name, count(runs.run), min(runs.started_ns), max(runs.started_ns)
FROM clear.projects
LEFT JOIN clear.runs USING (project)
WHERE NOT EXISTS (SELECT 1 FROM clear.shards WHERE shards.project = projects.project)
GROUP BY projects.project, projects.name
ORDER BY projects.name

-- @sizes: What the tables of a store take, with their indexes and partitions: name, bytes, rows as the server estimates them; -1 where it has
-- not counted yet.
SELECT
    parent.relname,
    sum(pg_total_relation_size(part.oid)),
    coalesce(nullif(sum(greatest(part.reltuples, 0)) FILTER (WHERE part.reltuples >= 0), 0),
             CASE WHEN bool_or(part.reltuples < 0 AND pg_relation_size(part.oid) > 0) THEN -1 ELSE 0 END)::bigint
FROM pg_class AS parent
JOIN LATERAL (
    SELECT parent.oid, parent.reltuples
    WHERE parent.relkind = 'r'
    UNION ALL
    SELECT child.oid, child.reltuples
    FROM pg_inherits
    JOIN pg_class AS child ON child.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = parent.oid) AS part ON true
WHERE parent.relnamespace = 'clear'::regnamespace AND parent.relkind IN ('p', 'r') AND NOT parent.relispartition
GROUP BY parent.relname
ORDER BY 2 DESC, 1

-- @worst: What the doctor found in the $2 newest runs (NULL: all) of project $1 (NULL: of each project) when they were pushed: each diagnosis
-- of a subject once, the worst first, then what most runs have; at most $3 rows (NULL: all): project, section, code, severity (the worst),
-- subject, runs that have it, the newest of them and its start.
WITH newest AS (
    SELECT projects.project, projects.name, latest.month, latest.run, latest.started_ns
    FROM clear.projects
    CROSS JOIN LATERAL (
        SELECT month, run, started_ns
        FROM clear.runs
        WHERE runs.project = projects.project
        ORDER BY started_ns DESC, run DESC
        LIMIT $2::bigint) AS latest
    WHERE CASE
              WHEN $1::bigint IS NULL THEN NOT EXISTS (SELECT 1 FROM clear.shards WHERE shards.project = projects.project)
              ELSE projects.project = $1::bigint
          END
)
SELECT
    name,
    section,
    code,
    (ARRAY['critical', 'warning', 'note', 'ok'])[min(array_position(ARRAY['critical', 'warning', 'note', 'ok'], severity))],
    subject,
    count(DISTINCT run),
    (array_agg(run ORDER BY started_ns DESC, run DESC))[1],
    max(started_ns)
FROM newest
JOIN clear.findings USING (project, month, run)
GROUP BY name, section, code, subject
ORDER BY min(array_position(ARRAY['critical', 'warning', 'note', 'ok'], severity)), count(DISTINCT run) DESC, max(started_ns) DESC,
    name, section, code, subject
LIMIT $3::bigint

-- @check_begin: Begins to repair: as clear store gc, which deletes names too, but it waits for who pushes, up to a minute.
BEGIN;
SELECT pg_advisory_xact_lock(4998189, 4);
SELECT pg_advisory_xact_lock(4998189, 2);
INSERT INTO clear.meta(key, value) VALUES ('swept', '1')
ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + 1

-- @check_runs: The runs that lack names: project, uuid.
SELECT coalesce(projects.name, wanting.project::text), wanting.run
FROM clear.wanting
LEFT JOIN clear.projects USING (project)
ORDER BY 1, 2
