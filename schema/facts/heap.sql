CREATE TABLE heap_facts (
    -- What all allocation sites of a run did together. A run without sites has no row.
    run_id      INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    alloc_count INTEGER NOT NULL, -- [count] blocks allocated
    inuse_bytes INTEGER NOT NULL, -- [bytes] live at the end
    is_searched INTEGER NOT NULL  -- [0 or 1] a process was searched for lost blocks; of sites whose blocks live in one that was not, lost_count is -1
) STRICT;

CREATE TABLE heap_profile_facts (
    -- A profile of allocation sites that is the only one of its process, and covers its life: an ingested one, or a process of a single window.
    -- Its rows are summed already: the view heap_sites reads them where they are, except of sites that have a row in site_facts.
    run_id     INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    profile_id INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the profile
    PRIMARY KEY (run_id, profile_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE site_facts (
    -- One stack that allocated, its windows, processes and label sets summed. Of a recorded run: with live blocks at the end, 500 blocks of less
    -- than 32 B, 10,000 temporary ones, 1 MiB at the peak or that realloc or copies made larger, or live bytes that rose by 4 KiB in the middle
    -- of a life. Not those whose only row is in a profile of heap_profile_facts and that have less than 1 % of all live bytes and nothing else
    -- of this; of an ingested run only those of several rows, with lost blocks or with 1 MiB at the peak. None of Go, which collects garbage.
    -- A process is divided into fifths of its life; a window counts for that in which its middle is. Its start is the first 1,000 ms, or the first
    -- window where that is longer. NULL of the figures from is_fine on: no window says it (heap_profile_facts).
    run_id              INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id            INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    alloc_count         INTEGER NOT NULL, -- [count] blocks allocated
    alloc_bytes         INTEGER NOT NULL, -- [bytes] bytes allocated
    free_count          INTEGER NOT NULL, -- [count] of those blocks, the freed ones
    free_bytes          INTEGER NOT NULL, -- [bytes] their bytes
    process_inuse_count INTEGER, -- [count] live blocks in the process that has most; NULL: it has all
    grown_count         INTEGER, -- [count] live blocks that came after the start of a process, in the process that has most; NULL: process_inuse_count
    start_percent       INTEGER, -- [percent] the start of that process, of its life, a whole number; NULL: grown_count is, or none is known
    samples             INTEGER, -- [count] samples that the live blocks of process_inuse_count are estimated from; NULL: all were recorded
    average_live_bytes  INTEGER, -- [bytes] live in the mean over the life of the process, in the process where that is most
    is_fine             INTEGER, -- [0 or 1] no window of it in some process is longer than a fifth
    is_all_fine         INTEGER, -- [0 or 1] of each process that has live blocks
    life_ns             INTEGER, -- [ns] of the process that lost most, where blocks are lost; else the shortest of these processes; NULL: not known
    quiet_percent       INTEGER, -- [percent] of its life for which such a process went on after the last window in which they became more, rounded down,
                                 -- and the least of them
    growth_bytes        INTEGER, -- [bytes] by how much its live bytes rose from the second to the fourth fifth, in the process where most; 0: not
                                 -- in each of the three
    growth_percent      INTEGER, -- [percent] the least rise of the three, of growth_bytes, rounded down
    rising_fifths       INTEGER, -- [count] in how many fifths a process got more than a tenth of what it has live at its end; the most of them
    late_bytes          INTEGER, -- [bytes] by how much the live bytes rose in the last two fifths; the most of a process
    weight              INTEGER, -- [bytes] as in site_weight_facts; NULL: it has no row there
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE site_weight_facts (
    -- The sites of a recorded run by weight, from 4 KiB on: of those of one diagnosis the heaviest is the one to look at.
    run_id   INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    weight   INTEGER NOT NULL, -- [bytes] live at the end, four times where other blocks of the site were freed or where they rose all through a process
                               -- of 5,000 ms, by a tenth in each fifth: such are more likely forgotten. growth_bytes where that is more
    trace_id INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack, in site_facts
    PRIMARY KEY (run_id, weight, trace_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE site_detail_facts (
    -- More of a site of site_facts, where it has any and made 10,000 blocks or 1 MiB; or lost blocks.
    run_id              INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    trace_id            INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack
    temporary_count     INTEGER NOT NULL, -- [count] blocks freed before their thread allocated another one
    step_count          INTEGER NOT NULL, -- [count] in the process that copied most by its steps, as the next six: calls of realloc that made a block
                                          -- larger by less than an eighth
    step_bytes          INTEGER NOT NULL, -- [bytes] that these blocks had before
    resize_growth_bytes INTEGER NOT NULL, -- [bytes] by how much realloc made the blocks of the stack larger in all
    replaced_count      INTEGER NOT NULL, -- [count] as in site_details
    copy_step_count     INTEGER NOT NULL, -- [count] as in site_details
    copy_step_bytes     INTEGER NOT NULL, -- [bytes] as in site_details
    copy_growth_bytes   INTEGER NOT NULL, -- [bytes] as in site_details
    peak_bytes          INTEGER, -- [bytes] live when the live bytes of its process were highest, in the process where most; NULL: none
    peak_percent        INTEGER, -- [percent] that, of all live bytes of the process at that moment, a whole number
    lost_count          INTEGER NOT NULL, -- [count] live blocks that nothing reached at the end, or only lost blocks, in the process that lost most (bytes times its life); -1: not known
    lost_bytes          INTEGER NOT NULL, -- [bytes] their bytes
    PRIMARY KEY (run_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- Of a run where some were: the processes with 100 live blocks and more that were not searched for lost ones. What a shell had when it became another
-- program by exec is gone with it.
CREATE TEMP TABLE IF NOT EXISTS sealed_unsearched (process_id INTEGER PRIMARY KEY);

DELETE FROM sealed_unsearched;

INSERT INTO sealed_unsearched
SELECT process_id
FROM profiles
JOIN sites ON sites.profile_id = profiles.id
WHERE run_id = :run AND kind = 'heap' AND process_id IS NOT NULL
  AND EXISTS (SELECT 1 FROM profiles AS searched WHERE searched.run_id = :run AND searched.kind = 'leak')
  AND NOT EXISTS (SELECT 1 FROM profiles AS searched WHERE searched.process_id = profiles.process_id AND searched.kind = 'leak')
  AND NOT EXISTS (SELECT 1
                  FROM processes AS before
                  JOIN processes AS after ON after.run_id = before.run_id AND after.pid = before.pid AND after.started_ns > before.started_ns
                  WHERE before.id = profiles.process_id)
GROUP BY process_id
HAVING sum(alloc_count) - sum(free_count) >= 100;

INSERT INTO heap_profile_facts(run_id, profile_id)
SELECT :run, window.id
FROM (SELECT profiles.*, count(*) OVER (PARTITION BY coalesce(process_id, -id)) AS windows
      FROM profiles
      WHERE run_id = :run AND EXISTS (SELECT 1 FROM site_rows WHERE site_rows.profile_id = profiles.id)) AS window
LEFT JOIN processes ON processes.id = window.process_id
WHERE windows = 1 AND coalesce(process_id, 0) NOT IN (SELECT process_id FROM sealed_unsearched)
  AND (processes.ended_ns IS NULL
       OR window.time_ns >= processes.ended_ns AND window.duration_ns * 5 > processes.ended_ns - processes.started_ns);

-- The one profile of an ingested run, where nothing more is known of its sites: none is worth a row but those that have several, by their labels. To
-- sum all of them took a third of the time of reading 500,000 samples.
CREATE TEMP TABLE IF NOT EXISTS sealed_plain (profile_id INTEGER PRIMARY KEY);

DELETE FROM sealed_plain;

-- Needs heap_profile_facts
WITH whole AS (SELECT max(profile_id) AS id FROM heap_profile_facts WHERE run_id = :run HAVING count(*) = 1)
INSERT INTO sealed_plain
SELECT whole.id
FROM whole
WHERE EXISTS (SELECT 1 FROM runs WHERE id = :run AND source <> 'profile')
  AND NOT EXISTS (SELECT 1
                  FROM profiles
                  WHERE run_id = :run
                    AND (kind = 'leak' OR id <> whole.id AND EXISTS (SELECT 1 FROM site_rows WHERE site_rows.profile_id = profiles.id)))
  AND NOT EXISTS (SELECT 1 FROM profiles JOIN site_details ON site_details.profile_id = profiles.id WHERE profiles.run_id = :run)
  AND NOT EXISTS (SELECT 1 FROM profiles JOIN heap_peaks ON heap_peaks.profile_id = profiles.id WHERE profiles.run_id = :run)
  AND NOT EXISTS (SELECT 1 FROM profiles JOIN leaks ON leaks.profile_id = profiles.id WHERE profiles.run_id = :run);

CREATE TEMP TABLE IF NOT EXISTS sealed_several (trace_id INTEGER PRIMARY KEY);

DELETE FROM sealed_several;

-- Needs sealed_plain
INSERT INTO sealed_several
SELECT trace_id
FROM sites
WHERE profile_id IN (SELECT profile_id FROM sealed_plain) AND EXISTS (SELECT 1 FROM label_sets WHERE id > 0)
GROUP BY trace_id
HAVING count(*) > 1;

-- What is known of the life of its process at the end of each profile; key: the process, or the profile without one. -1: not known.
CREATE TEMP TABLE IF NOT EXISTS sealed_windows (
    id INTEGER PRIMARY KEY, key INTEGER, duration_ns INTEGER, life_ns INTEGER, fifth INTEGER, rest REAL, activity INTEGER, start_percent INTEGER,
    sample_n INTEGER, space INTEGER, is_sampled INTEGER, is_whole INTEGER, is_long INTEGER);

DELETE FROM sealed_windows;

INSERT INTO sealed_windows
SELECT
    profiles.id, coalesce(process_id, -profiles.id), duration_ns, coalesce(ended_ns - started_ns, -1),
    max(0, min(4, (time_ns - duration_ns / 2 - started_ns) * 5 / nullif(ended_ns - started_ns, 0))),
    -- What changed in a window counts from its end on.
    1.0 * (ended_ns - time_ns) / nullif(ended_ns - started_ns, 0),
    -- 100 less the whole per cent of its life for which the process went on; of thousands of ns, because 100 times a life may be more than 64 bits.
    coalesce(100 - max(0, 100 * ((ended_ns - time_ns) / 1000) / nullif((ended_ns - started_ns) / 1000, 0)), -1),
    iif(duration_ns > 0 AND (time_ns - duration_ns <= started_ns OR time_ns - started_ns <= 1000000000),
        coalesce(CAST(round(100.0 * max(time_ns - started_ns, 1000000000) / nullif(ended_ns - started_ns, 0)) AS INTEGER), -1), -1),
    sample_n, iif(period_type = 'space', period, 0), sample_n > 1 OR period_type = 'space' AND period > 1,
    heap_profile_facts.profile_id IS NOT NULL,
    -- Whether growth can be seen in its process; NULL: it has no sites.
    iif(kind = 'heap', count(*) FILTER (WHERE kind = 'heap') OVER (PARTITION BY coalesce(process_id, -profiles.id)) >= 3, NULL)
FROM profiles
LEFT JOIN processes ON processes.id = profiles.process_id
LEFT JOIN heap_profile_facts ON heap_profile_facts.run_id = :run AND heap_profile_facts.profile_id = profiles.id
WHERE profiles.run_id = :run;

-- Blocks that were freed at once, of all windows and processes.
CREATE TEMP TABLE IF NOT EXISTS sealed_temporaries (trace_id INTEGER PRIMARY KEY, temporary_count INTEGER);

DELETE FROM sealed_temporaries;

-- Needs site_details
-- Summed in memory.
INSERT INTO sealed_temporaries
SELECT trace_id, temporary_count AS sum
FROM sealed_windows
CROSS JOIN site_details ON site_details.profile_id = sealed_windows.id
WHERE temporary_count > 0;

-- How blocks of each site grew in each process. To copy one over and over is slow where one process does it: of 570 compilers that copied 0.2 MiB
-- each the sum says nothing.
CREATE TEMP TABLE IF NOT EXISTS sealed_steps (
    trace_id INTEGER, key INTEGER, step_count INTEGER, step_bytes INTEGER, resize_growth_bytes INTEGER, replaced_count INTEGER, copy_step_count INTEGER,
    copy_step_bytes INTEGER, copy_growth_bytes INTEGER, PRIMARY KEY (trace_id, key)) WITHOUT ROWID;

DELETE FROM sealed_steps;

-- Needs site_details
-- Summed in memory.
INSERT INTO sealed_steps
SELECT trace_id, key, step_count AS sum, step_bytes AS sum, realloc_bytes - resized_bytes AS sum, replaced_count AS sum, copy_step_count AS sum,
       copy_step_bytes AS sum, copy_growth_bytes AS sum
FROM sealed_windows
CROSS JOIN site_details ON site_details.profile_id = sealed_windows.id
WHERE step_count > 0 OR copy_step_count > 0 OR replaced_count > 0 OR realloc_bytes <> resized_bytes;

-- Lost blocks of each site, and what was lost with them, in the process that lost most, its bytes times its life: one small block of each of 570
-- processes is no leak, and what a helper lost for a moment must not hide what the server lost.
CREATE TEMP TABLE IF NOT EXISTS sealed_lost (trace_id INTEGER PRIMARY KEY, lost_count INTEGER, lost_bytes INTEGER, life_ns INTEGER);

DELETE FROM sealed_lost;

-- Needs leaks
INSERT INTO sealed_lost
SELECT trace_id, lost_count, lost_bytes, nullif(life_ns, -1)
FROM (SELECT trace_id, lost_count + indirect_count AS lost_count, lost_bytes + indirect_bytes AS lost_bytes,
             -- A flush finds that a process is gone, and may come late. No process lives longer than all of its threads together.
             iif(thread_ns > 0, min(life_ns, thread_ns), life_ns) AS life_ns,
             row_number() OVER (PARTITION BY trace_id
                                ORDER BY 1.0 * (lost_bytes + indirect_bytes) * max(iif(thread_ns > 0, min(life_ns, thread_ns), life_ns), 1) DESC,
                                         lost_bytes + indirect_bytes DESC, lost_count + indirect_count DESC) AS place
      FROM sealed_windows
      CROSS JOIN leaks ON leaks.profile_id = sealed_windows.id
      LEFT JOIN processes ON processes.id = sealed_windows.key)
WHERE place = 1;

-- Stacks whose peak, lost blocks, temporary blocks or copies are worth a look.
CREATE TEMP TABLE IF NOT EXISTS sealed_large (trace_id INTEGER PRIMARY KEY);

DELETE FROM sealed_large;

-- Needs sealed_temporaries or sealed_steps or heap_peaks or sealed_lost
INSERT INTO sealed_large
SELECT trace_id FROM sealed_temporaries WHERE temporary_count >= 10000
UNION
SELECT trace_id FROM sealed_steps WHERE step_bytes + copy_step_bytes >= 1048576
UNION
SELECT trace_id FROM heap_peaks WHERE profile_id IN (SELECT id FROM sealed_windows) AND peak_bytes >= 1048576
UNION
SELECT trace_id FROM sealed_lost;

-- One row where many processes were short, as in a build.
CREATE TEMP TABLE IF NOT EXISTS sealed_many (profiles INTEGER);

DELETE FROM sealed_many;

INSERT INTO sealed_many
SELECT count(*)
FROM sealed_windows
WHERE is_long = 0 AND EXISTS (SELECT 1 FROM runs WHERE id = :run AND source = 'profile')
HAVING count(*) >= 32;

-- Each site in all windows and processes together. Of many short processes this comes first: most of their stacks freed in each process what they
-- allocated, and are of no more interest than that. Of 5,418,082 rows of 2,276 processes that built clear, 1,840,209 are kept.
CREATE TEMP TABLE IF NOT EXISTS sealed_totals (
    trace_id INTEGER PRIMARY KEY, rows INTEGER, is_whole INTEGER, alloc_count INTEGER, alloc_bytes INTEGER, free_count INTEGER, free_bytes INTEGER,
    is_uneven INTEGER, is_long INTEGER);

DELETE FROM sealed_totals;

-- Needs sealed_many
-- Summed in memory.
INSERT INTO sealed_totals
SELECT trace_id, 1 AS sum, is_whole AS max, alloc_count AS sum, alloc_bytes AS sum, free_count AS sum, free_bytes AS sum,
       alloc_count <> free_count OR alloc_bytes <> free_bytes AS max, coalesce(is_long, 1) AS max
FROM sealed_many
CROSS JOIN sealed_windows
CROSS JOIN sites ON sites.profile_id = sealed_windows.id;

-- The stacks that get a row for each process all the same.
CREATE TEMP TABLE IF NOT EXISTS sealed_kept (trace_id INTEGER PRIMARY KEY);

DELETE FROM sealed_kept;

-- Needs sealed_many
INSERT INTO sealed_kept
SELECT trace_id
FROM sealed_many
CROSS JOIN sealed_totals
WHERE is_uneven OR is_long OR alloc_count >= 500 AND alloc_bytes < 32 * alloc_count OR trace_id IN (SELECT trace_id FROM sealed_large);

-- The windows of each site in each process, summed. Thousandths of samples that stand for the live blocks: of N events each, or of one block in
-- 1 / (1 - exp(-size / period)). The series of exp is enough where a block is smaller than the period; a larger one is nearly always seen.
CREATE TEMP TABLE IF NOT EXISTS sealed_sites (
    trace_id INTEGER, key INTEGER, rows INTEGER, is_whole INTEGER, alloc_count INTEGER, alloc_bytes INTEGER, free_count INTEGER, free_bytes INTEGER,
    life_ns INTEGER, duration_ns INTEGER, start_percent INTEGER, activity INTEGER, grown_count INTEGER, rise_1 INTEGER, rise_2 INTEGER,
    rise_3 INTEGER, rise_4 INTEGER, rise_5 INTEGER, average_live_bytes INTEGER, is_sampled INTEGER, samples INTEGER,
    is_fine INTEGER AS (duration_ns * 5 <= nullif(life_ns, -1)),
    most_grown INTEGER AS (iif(start_percent > 50, alloc_count - free_count, grown_count)),
    most_growth_bytes INTEGER AS (iif(duration_ns * 5 <= nullif(life_ns, -1),
                                      iif(min(rise_2, rise_3, rise_4) > 0, rise_2 + rise_3 + rise_4, 0), NULL)),
    PRIMARY KEY (trace_id, key)) WITHOUT ROWID;

DELETE FROM sealed_sites;

-- Summed in memory.
INSERT INTO sealed_sites
SELECT
    trace_id, key, 1 AS sum, is_whole AS max, alloc_count AS sum, alloc_bytes AS sum, free_count AS sum, free_bytes AS sum, life_ns AS max,
    duration_ns AS max, start_percent AS max, iif(alloc_count > free_count, activity, -1) AS max,
    iif(start_percent >= 0, 0, alloc_count - free_count) AS sum, iif(fifth = 0, alloc_bytes - free_bytes, 0) AS sum,
    iif(fifth = 1, alloc_bytes - free_bytes, 0) AS sum, iif(fifth = 2, alloc_bytes - free_bytes, 0) AS sum,
    iif(fifth = 3, alloc_bytes - free_bytes, 0) AS sum, iif(fifth = 4, alloc_bytes - free_bytes, 0) AS sum,
    CAST(round((alloc_bytes - free_bytes) * rest) AS INTEGER) AS sum, is_sampled AS max,
    iif(is_sampled,
        CAST(round(1000.0 * (alloc_count - free_count)
                   / iif(sample_n > 1, sample_n, max(1.0, 1.0 * space * alloc_count / max(alloc_bytes, 1)))) AS INTEGER), 0) AS sum
FROM sealed_windows
CROSS JOIN sites ON sites.profile_id = sealed_windows.id
WHERE (sealed_windows.id NOT IN (SELECT profile_id FROM sealed_plain) OR sites.trace_id IN (SELECT trace_id FROM sealed_several))
  AND (NOT EXISTS (SELECT 1 FROM sealed_many) OR sites.trace_id IN (SELECT trace_id FROM sealed_kept));

-- Needs sealed_sites
INSERT INTO sealed_totals
SELECT trace_id, sum(rows), max(is_whole), sum(alloc_count), sum(alloc_bytes), sum(free_count), sum(free_bytes), 0, 0
FROM sealed_sites
WHERE NOT EXISTS (SELECT 1 FROM sealed_many)
GROUP BY trace_id;

-- Needs sealed_plain
INSERT INTO heap_facts(run_id, alloc_count, inuse_bytes, is_searched)
SELECT :run, sum(alloc_count), sum(alloc_bytes) - sum(free_bytes), 0
FROM sites
WHERE profile_id IN (SELECT profile_id FROM sealed_plain)
HAVING count(*) > 0;

-- Needs sealed_totals
INSERT INTO heap_facts(run_id, alloc_count, inuse_bytes, is_searched)
SELECT :run, sum(alloc_count), sum(alloc_bytes) - sum(free_bytes), EXISTS (SELECT 1 FROM profiles WHERE run_id = :run AND kind = 'leak')
FROM sealed_totals
WHERE NOT EXISTS (SELECT 1 FROM sealed_plain)
HAVING count(*) > 0;

-- Those that are worth a row. To say how one grew, rows in three windows are needed. Of several processes, the one with most blocks of after its
-- start counts, unless that is more than half of its life; and the one that grew most.
CREATE TEMP TABLE IF NOT EXISTS sealed_wanted (
    trace_id INTEGER PRIMARY KEY, alloc_count INTEGER, alloc_bytes INTEGER, free_count INTEGER, free_bytes INTEGER, most_grown INTEGER,
    growth_bytes INTEGER, is_recorded INTEGER);

DELETE FROM sealed_wanted;

-- Needs sealed_sites
INSERT INTO sealed_wanted
WITH
run AS MATERIALIZED (
    SELECT runs.source = 'profile' AS is_recorded, heap_facts.inuse_bytes AS run_bytes
    FROM heap_facts
    JOIN runs ON runs.id = heap_facts.run_id
    WHERE heap_facts.run_id = :run
),
process AS (
    SELECT trace_id, max(most_grown) AS most_grown, max(most_growth_bytes) AS growth_bytes
    FROM sealed_sites
    GROUP BY trace_id
)
SELECT site.trace_id, alloc_count, alloc_bytes, free_count, free_bytes, most_grown, growth_bytes, is_recorded
FROM (SELECT
          total.*, most_grown, growth_bytes, run.*, rows = 1 AND is_whole AS is_row,
          large.trace_id IS NOT NULL OR is_recorded AND alloc_count >= 500 AND alloc_bytes < 32 * alloc_count AS is_used,
          alloc_count > free_count OR NOT is_recorded AND free_count = 0 AS is_live
      FROM process
      CROSS JOIN run
      CROSS JOIN sealed_totals AS total ON total.trace_id = process.trace_id
      LEFT JOIN sealed_large AS large ON large.trace_id = total.trace_id) AS site
JOIN traces ON traces.id = site.trace_id
LEFT JOIN functions ON functions.id = traces.function_id
WHERE (is_live OR is_used OR is_recorded AND rows >= 3 AND growth_bytes >= 4096)
  AND (NOT is_row OR is_used OR is_recorded AND (is_live AND (alloc_bytes - free_bytes) * 100.0 >= run_bytes))
  AND coalesce(functions.filename, '') NOT GLOB '*.go';

-- Needs sealed_wanted
WITH
process AS (
    SELECT
        trace_id, alloc_count - free_count AS inuse_count, alloc_bytes - free_bytes AS inuse_bytes, nullif(life_ns, -1) AS life_ns, is_fine,
        iif(is_sampled, samples / 1000.0, NULL) AS samples, rise_1, rise_2, rise_3, rise_4, rise_5,
        iif(life_ns > 0, average_live_bytes, NULL) AS average_live_bytes, 100 - nullif(activity, -1) AS quiet_percent,
        nullif(start_percent, -1) AS start_percent, grown_count, most_grown, most_growth_bytes
    FROM sealed_sites
),
grown AS (
    SELECT
        wanted.*, max(inuse_count) AS process_inuse_count,
        max(iif(process.most_grown = wanted.most_grown, grown_count, NULL)) AS grown_count,
        max(iif(process.most_grown = wanted.most_grown, start_percent, NULL)) AS start_percent,
        max(samples) AS samples, max(0, max(average_live_bytes)) AS average_live_bytes,
        max(is_fine) AS is_fine, coalesce(min(coalesce(is_fine, 0)) FILTER (WHERE inuse_count > 0), 0) AS is_all_fine,
        min(coalesce(life_ns, 0)) FILTER (WHERE inuse_count > 0) AS life_ns,
        max(0, min(coalesce(quiet_percent, 0)) FILTER (WHERE inuse_count > 0)) AS quiet_percent,
        max(iif(most_growth_bytes > 0 AND most_growth_bytes = growth_bytes, 100.0 * min(rise_2, rise_3, rise_4) / growth_bytes, NULL))
            AS growth_percent,
        max((rise_1 * 10 > inuse_bytes) + (rise_2 * 10 > inuse_bytes) + (rise_3 * 10 > inuse_bytes) + (rise_4 * 10 > inuse_bytes)
            + (rise_5 * 10 > inuse_bytes)) AS rising_fifths,
        max(rise_4 + rise_5) AS late_bytes
    FROM sealed_wanted AS wanted
    CROSS JOIN process ON process.trace_id = wanted.trace_id
    GROUP BY wanted.trace_id
)
INSERT INTO site_facts(run_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes, process_inuse_count, grown_count, start_percent,
                       samples, average_live_bytes, is_fine, is_all_fine, life_ns, quiet_percent, growth_bytes, growth_percent,
                       rising_fifths, late_bytes, weight)
SELECT
    :run, trace_id, alloc_count, alloc_bytes, free_count, free_bytes, nullif(process_inuse_count, alloc_count - free_count),
    iif(is_start, grown_count, NULL), iif(is_start, start_percent, NULL),
    CAST(round(samples) AS INTEGER), CAST(round(average_live_bytes) AS INTEGER), is_fine, iif(is_fine IS NULL, NULL, is_all_fine),
    coalesce((SELECT life_ns FROM sealed_lost WHERE sealed_lost.trace_id = grown.trace_id), nullif(life_ns, 0)), iif(is_fine IS NULL, NULL, quiet_percent), growth_bytes, CAST(growth_percent AS INTEGER),
    iif(is_fine, rising_fifths, NULL), iif(is_fine, CAST(late_bytes AS INTEGER), NULL),
    iif(is_recorded AND weight >= 4096, weight, NULL)
FROM (SELECT
          *, grown_count <> process_inuse_count AS is_start,
          max(min(alloc_bytes - free_bytes, 1152921504606846976)
              * iif(free_count > 0 OR is_all_fine AND life_ns >= 5000000000 AND growth_bytes > 0 AND growth_percent >= 10, 4, 1),
              coalesce(growth_bytes, 0)) AS weight
      FROM grown) AS grown;

-- Needs site_facts
INSERT INTO site_weight_facts(run_id, weight, trace_id)
SELECT :run, weight, trace_id
FROM site_facts
WHERE run_id = :run AND weight IS NOT NULL;

-- Needs site_facts
WITH
big AS MATERIALIZED (SELECT trace_id FROM site_facts WHERE run_id = :run AND (alloc_count >= 10000 OR alloc_bytes >= 1048576)),
temporary AS (SELECT * FROM sealed_temporaries WHERE trace_id IN (SELECT trace_id FROM big)),
step AS (
    SELECT *
    FROM (SELECT *, row_number() OVER (PARTITION BY trace_id ORDER BY step_bytes + copy_step_bytes DESC, resize_growth_bytes DESC, key) AS place
          FROM sealed_steps
          WHERE trace_id IN (SELECT trace_id FROM big))
    WHERE place = 1
),
whole AS MATERIALIZED (
    SELECT profiles.id, sum(peak_bytes) AS process_bytes
    FROM profiles
    JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'heap-peak'
    GROUP BY profiles.id
),
peak AS (
    SELECT trace_id, max(peak_bytes) AS peak_bytes, process_bytes -- that of the row with the maximum
    FROM whole
    JOIN heap_peaks ON heap_peaks.profile_id = whole.id
    WHERE trace_id IN (SELECT trace_id FROM big)
    GROUP BY trace_id
),
unsearched AS (
    SELECT DISTINCT trace_id
    FROM sealed_sites
    WHERE EXISTS (SELECT 1 FROM sealed_unsearched) AND key IN (SELECT process_id FROM sealed_unsearched) AND alloc_count > free_count
)
INSERT INTO site_detail_facts(run_id, trace_id, temporary_count, step_count, step_bytes, resize_growth_bytes, replaced_count, copy_step_count,
                              copy_step_bytes, copy_growth_bytes, peak_bytes, peak_percent, lost_count, lost_bytes)
SELECT
    :run, site_facts.trace_id, coalesce(temporary_count, 0), coalesce(step_count, 0), coalesce(step_bytes, 0),
    coalesce(resize_growth_bytes, 0), coalesce(replaced_count, 0), coalesce(copy_step_count, 0), coalesce(copy_step_bytes, 0),
    coalesce(copy_growth_bytes, 0), peak_bytes, CAST(round(100.0 * peak_bytes / nullif(process_bytes, 0)) AS INTEGER),
    coalesce(nullif(lost_count, 0), iif(unsearched.trace_id IS NULL, 0, -1)), coalesce(lost_bytes, 0)
FROM site_facts
LEFT JOIN temporary ON temporary.trace_id = site_facts.trace_id
LEFT JOIN step ON step.trace_id = site_facts.trace_id
LEFT JOIN peak ON peak.trace_id = site_facts.trace_id
LEFT JOIN sealed_lost AS leak ON leak.trace_id = site_facts.trace_id
LEFT JOIN unsearched ON unsearched.trace_id = site_facts.trace_id
WHERE site_facts.run_id = :run
  AND (leak.trace_id IS NOT NULL OR unsearched.trace_id IS NOT NULL OR peak.trace_id IS NOT NULL OR temporary_count > 0 OR step_count > 0 OR copy_step_count > 0
       OR replaced_count > 0 OR resize_growth_bytes <> 0);
