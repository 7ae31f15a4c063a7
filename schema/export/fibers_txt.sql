-- Lines of fibers.txt of run :run, all processes and the windows that end after :from and up to :to together, in order: totals, schedulers, task sites. What is not known of a
-- task site is '-'.
WITH mine(id) AS (
    SELECT id FROM profiles WHERE run_id = :run AND kind = 'fibers' AND time_ns > :from AND time_ns <= :to
),
total(fibers, short, very_short, lifetime, longest) AS (
    SELECT sum(total_fibers), sum(short_fibers), sum(very_short_fibers), sum(total_lifetime_ns), max(max_lifetime_ns)
    FROM fibers
    WHERE profile_id IN (SELECT id FROM mine)
),
spread(site, scheduler, runs) AS (
    SELECT task_sites.site, CAST(part.key AS INTEGER), sum(part.value)
    FROM task_sites
    JOIN json_each(task_sites.schedulers) AS part
    WHERE task_sites.profile_id IN (SELECT id FROM mine)
    GROUP BY task_sites.site, part.key
),
line(place, item, text) AS (
    SELECT 0, 0, printf('total_fibers: %d', fibers) FROM total
    UNION ALL
    SELECT 0, 1, printf('short_fibers_under_1ms: %d', short) FROM total
    UNION ALL
    SELECT 0, 2, printf('vshort_fibers_under_10us: %d', very_short) FROM total
    UNION ALL
    SELECT 0, 3, printf('total_lifetime_ns: %d', lifetime) FROM total
    UNION ALL
    SELECT 0, 4, printf('max_lifetime_ns: %d', longest) FROM total
    UNION ALL
    SELECT 1, 0, '# per-scheduler fibers-run' || char(10) || '# sched' || char(9) || 'fibers'
    UNION ALL
    SELECT 2, scheduler, printf('%d%s%d', scheduler, char(9), sum(fibers))
    FROM schedulers
    WHERE profile_id IN (SELECT id FROM mine)
    GROUP BY scheduler
    UNION ALL
    SELECT 3, 0, '# per-site fibers' || char(10)
                 || replace('# site|spawns|runs|exits|total_lifetime_ns|max_lifetime_ns|dispatch|form|schedulers',
                            '|', char(9))
    UNION ALL
    SELECT 4, site,
           replace(printf('%d|%d|%d|%d|%d|%d|%s|%s|%s', site, sum(spawns), sum(runs), sum(exits),
                          sum(total_lifetime_ns), max(max_lifetime_ns), coalesce(nullif(max(dispatch), ''), '-'),
                          coalesce(nullif(max(form), ''), '-'),
                          coalesce((SELECT group_concat(scheduler || ':' || runs)
                                    FROM (SELECT scheduler, runs FROM spread
                                          WHERE spread.site = task_sites.site ORDER BY scheduler)), '-')),
                   '|', char(9))
    FROM task_sites
    WHERE profile_id IN (SELECT id FROM mine)
    GROUP BY site
)
SELECT text
FROM line
ORDER BY place, item;
