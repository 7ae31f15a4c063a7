CREATE TABLE fiber_facts (
    -- The fibers of a run, and the schedulers that ran them, over all its profiles.
    run_id             INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    total_fibers       INTEGER, -- [count] fibers; NULL, from here to max_lifetime_ns: not recorded
    short_fibers       INTEGER, -- [count] those that lived less than 1 ms
    very_short_fibers  INTEGER, -- [count] those that lived less than 10 µs
    very_short_percent INTEGER, -- [percent] very_short_fibers of total_fibers, a whole number; NULL: there are no fibers
    total_lifetime_ns  INTEGER, -- [ns] sum of the lifetimes
    max_lifetime_ns    INTEGER, -- [ns] the longest lifetime
    schedulers         INTEGER, -- [count] schedulers with fibers; NULL, from here on: not recorded
    runs               INTEGER, -- [count] runs of fibers on all schedulers
    busiest_scheduler  INTEGER, -- [number] the scheduler with most runs
    busiest_runs       INTEGER, -- [count] its runs
    busiest_percent    INTEGER  -- [percent] busiest_runs of runs, a whole number; NULL: there were no runs
) STRICT;

CREATE TABLE task_site_facts (
    -- A place in the source that starts fibers, over all profiles of a run.
    run_id   INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    site     INTEGER NOT NULL, -- [number] the compiler's number of the place
    name     TEXT    NOT NULL, -- [text] for people: its number, kind and line, and the source file where the run has the text of one only
    line     INTEGER NOT NULL, -- [line] in the source; 0: unknown
    column   INTEGER NOT NULL, -- [number] column in that line; 0: unknown
    dispatch TEXT    NOT NULL, -- [text] local: to the scheduler that spawns; parallel: to any; empty: unknown
    runs     INTEGER NOT NULL, -- [count] runs of its fibers
    skew     REAL,             -- [ratio] the part of them that was on one scheduler; NULL: there were none
    PRIMARY KEY (run_id, site)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs fibers or schedulers
INSERT INTO fiber_facts(run_id, total_fibers, short_fibers, very_short_fibers, very_short_percent, total_lifetime_ns, max_lifetime_ns,
                        schedulers, runs, busiest_scheduler, busiest_runs, busiest_percent)
WITH scheduler AS MATERIALIZED (
    SELECT schedulers.scheduler, sum(schedulers.fibers) AS runs
    FROM profiles
    JOIN schedulers ON schedulers.profile_id = profiles.id
    WHERE profiles.run_id = :run
    GROUP BY schedulers.scheduler
)
SELECT :run, fiber.*, share.*, busiest.*, CAST(round(100.0 * busiest.runs / nullif(share.runs, 0)) AS INTEGER)
FROM (SELECT sum(total_fibers) AS total, sum(short_fibers), sum(very_short_fibers),
             CAST(round(100.0 * sum(very_short_fibers) / nullif(sum(total_fibers), 0)) AS INTEGER), sum(total_lifetime_ns), max(max_lifetime_ns)
      FROM profiles
      JOIN fibers ON fibers.profile_id = profiles.id
      WHERE profiles.run_id = :run) AS fiber
JOIN (SELECT nullif(count(*), 0) AS schedulers, sum(runs) AS runs FROM scheduler) AS share
LEFT JOIN (SELECT scheduler, runs FROM scheduler ORDER BY runs DESC, scheduler LIMIT 1) AS busiest
WHERE fiber.total IS NOT NULL OR share.schedulers IS NOT NULL;

-- Needs task_sites
INSERT INTO task_site_facts(run_id, site, name, line, column, dispatch, runs, skew)
SELECT :run, site,
       printf('task site %d', site)
       || iif(max(line) = 0, '',
              printf(' (%s%s%d)', iif(max(kind) = '', '', max(kind) || ' at '),
                     coalesce((SELECT substr(max(path), 1 + length(rtrim(max(path), replace(max(path), '/', '')))) || ':'
                               FROM sources
                               WHERE sources.run_id = :run AND role = 'source'
                               HAVING count(*) = 1), 'line '), max(line))),
       max(line), max(column), max(dispatch), coalesce(sum(runs), 0), 1.0 * max(runs) / nullif(sum(runs), 0)
FROM (SELECT site, step.key AS scheduler, sum(CAST(step.value AS INTEGER)) AS runs, max(task_sites.kind) AS kind, max(line) AS line,
             max(task_sites.column) AS column, max(dispatch) AS dispatch
      FROM profiles
      JOIN task_sites ON task_sites.profile_id = profiles.id
      LEFT JOIN json_each(task_sites.schedulers) AS step
      WHERE profiles.run_id = :run
      GROUP BY site, step.key)
GROUP BY site;
