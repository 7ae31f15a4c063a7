CREATE TABLE memory_facts (
    -- A recorded process whose heap, that of the C library's malloc, held 16 MiB and twice what was live when the recorder looked, at the look when most was live of those at which it held most.
    -- Not one of which blocks may be missing: sampled, with lost events, that was recorded later than it began or paused, that has its heap from the process that
    -- forked it, or that moves the break itself.
    run_id      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    process_id  INTEGER NOT NULL REFERENCES processes(id) ON DELETE CASCADE, -- [id] the process
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack whose live blocks lay on most pages of the heap then
    heap_bytes  INTEGER NOT NULL, -- [bytes] in RAM for the heap, without single large blocks, which have mappings of their own
    rss_bytes   INTEGER NOT NULL, -- [bytes] of private memory in RAM in all, with the tables of the recording
    live_bytes  INTEGER NOT NULL, -- [bytes] live then
    live_count  INTEGER NOT NULL, -- [count] in so many blocks
    peak_bytes  INTEGER NOT NULL, -- [bytes] live when the live bytes of the process were highest
    need_bytes  INTEGER NOT NULL, -- [bytes] that these need in a heap at most: 32 B more for each block
    unused_bytes INTEGER NOT NULL, -- [bytes] heap_bytes less need_bytes, or 0
    classes     TEXT    NOT NULL, -- [text] the three sizes of blocks that lay on most pages: so many of the size, and the function with most of them
    PRIMARY KEY (run_id, process_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- The looks at heaps of 16 MiB and more.
CREATE TEMP TABLE IF NOT EXISTS memory_looks (process_id INTEGER, profile_id INTEGER, heap_bytes INTEGER, rss_bytes INTEGER, PRIMARY KEY (process_id, profile_id)) WITHOUT ROWID;

DELETE FROM memory_looks;

INSERT INTO memory_looks
SELECT process_id, profiles.id, CAST(heap.value AS INTEGER), CAST(coalesce(rss.value, heap.value) AS INTEGER)
FROM profiles
JOIN counters AS heap ON heap.profile_id = profiles.id AND heap.name = 'process.heap_bytes'
LEFT JOIN counters AS rss ON rss.profile_id = profiles.id AND rss.name = 'process.rss_bytes'
WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND profiles.process_id IS NOT NULL AND CAST(heap.value AS INTEGER) >= 16777216;

-- The window at whose end the heap of a process held most, or a twentieth less, and most of it was live: the heap stays as large when all is freed at the end, and a
-- look that comes then tells nothing of what made it so.
CREATE TEMP TABLE IF NOT EXISTS memory_windows (process_id INTEGER PRIMARY KEY, time_ns INTEGER, heap_bytes INTEGER, rss_bytes INTEGER);

DELETE FROM memory_windows;

-- Needs memory_looks
INSERT INTO memory_windows
SELECT process_id, time_ns, heap_bytes, rss_bytes
FROM (SELECT look.process_id, time_ns, heap_bytes, rss_bytes,
             row_number() OVER (PARTITION BY look.process_id ORDER BY live_bytes DESC, time_ns DESC, look.profile_id DESC) AS rank
      FROM (SELECT memory_looks.*, max(heap_bytes) OVER (PARTITION BY process_id) AS most_bytes FROM memory_looks) AS look
      JOIN (SELECT profiles.process_id, profiles.id AS profile_id, time_ns,
                   sum(coalesce(moved.bytes, 0)) OVER (PARTITION BY profiles.process_id ORDER BY time_ns) AS live_bytes
            FROM profiles
            LEFT JOIN (SELECT profile_id, sum(alloc_bytes - free_bytes) AS bytes
                       FROM sites
                       WHERE profile_id IN (SELECT id FROM profiles WHERE run_id = :run AND kind = 'heap')
                       GROUP BY profile_id) AS moved ON moved.profile_id = profiles.id
            WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND profiles.process_id IN (SELECT process_id FROM memory_looks)
           ) AS held ON held.profile_id = look.profile_id
      WHERE 20 * heap_bytes >= 19 * most_bytes)
WHERE rank = 1;

-- Needs memory_windows
DELETE FROM memory_windows
WHERE process_id IN (SELECT process_id FROM profiles WHERE run_id = :run AND kind = 'heap' AND (dropped > 0 OR sample_n > 1 OR period_type = 'space' AND period > 1))
   OR process_id IN (SELECT child.id
                     FROM processes AS child
                     JOIN processes AS parent ON parent.run_id = child.run_id AND parent.pid = child.ppid AND parent.executable = child.executable
                     WHERE child.run_id = :run)
   OR process_id IN (SELECT process_id FROM profiles JOIN map_use_facts AS used ON used.profile_id = profiles.id WHERE profiles.run_id = :run AND used.use = 'break')
   OR EXISTS (SELECT 1 FROM profiles JOIN counters ON counters.profile_id = profiles.id
              WHERE profiles.run_id = :run AND counters.name IN ('recorder.attached_ms', 'recorder.paused_ms'));

-- What was live then, by stack: in blocks that malloc takes from the heap, those of 128 KiB and more have mappings of their own. A block of malloc has 8 bytes more
-- than asked for, and a multiple of 16, so up to a size its blocks are alike.
CREATE TEMP TABLE IF NOT EXISTS memory_blocks (
    process_id INTEGER, trace_id INTEGER, live_count INTEGER, live_bytes INTEGER,
    size INTEGER AS (max(24, (live_bytes / max(live_count, 1) + 23) / 16 * 16 - 8)),
    pages INTEGER AS (live_count * max(1, (live_bytes / max(live_count, 1) + 4095) / 4096)),
    PRIMARY KEY (process_id, trace_id)) WITHOUT ROWID;

DELETE FROM memory_blocks;

-- Needs memory_windows
INSERT INTO memory_blocks
SELECT memory_windows.process_id, sites.trace_id, sum(alloc_count - free_count), sum(alloc_bytes - free_bytes)
FROM memory_windows
JOIN profiles ON profiles.run_id = :run AND profiles.process_id = memory_windows.process_id AND profiles.kind = 'heap'
  AND profiles.time_ns <= memory_windows.time_ns
JOIN sites ON sites.profile_id = profiles.id
GROUP BY memory_windows.process_id, sites.trace_id
HAVING sum(alloc_count - free_count) > 0 AND sum(alloc_bytes - free_bytes) < 131072 * sum(alloc_count - free_count);

-- Needs memory_windows
INSERT INTO memory_facts(run_id, process_id, trace_id, heap_bytes, rss_bytes, live_bytes, live_count, peak_bytes, need_bytes, unused_bytes, classes)
SELECT :run, memory_windows.process_id,
       coalesce((SELECT trace_id FROM memory_blocks AS block WHERE block.process_id = memory_windows.process_id ORDER BY pages DESC, trace_id LIMIT 1), 0),
       heap_bytes, rss_bytes, coalesce(live.bytes, 0), coalesce(live.count, 0), coalesce(peak.bytes, 0), coalesce(peak.bytes + 32 * peak.count, 0),
       max(0, heap_bytes - coalesce(peak.bytes + 32 * peak.count, 0)),
       coalesce((SELECT group_concat(text, ', ')
                 FROM (SELECT sum(live_count) || ' of up to ' || size || ' B in '
                              || (SELECT place_names.name
                                  FROM memory_blocks AS most
                                  JOIN place_names ON place_names.trace_id = most.trace_id
                                  WHERE most.process_id = memory_windows.process_id AND most.size = block.size
                                  ORDER BY most.pages DESC, most.trace_id
                                  LIMIT 1) AS text
                       FROM memory_blocks AS block
                       WHERE block.process_id = memory_windows.process_id
                       GROUP BY size
                       ORDER BY sum(pages) DESC, size
                       LIMIT 3)), '')
FROM memory_windows
LEFT JOIN (SELECT process_id, sum(live_bytes) AS bytes, sum(live_count) AS count FROM memory_blocks GROUP BY process_id) AS live
       ON live.process_id = memory_windows.process_id
LEFT JOIN (SELECT profiles.process_id, sum(peak_bytes) AS bytes, sum(peak_count) AS count
           FROM profiles
           JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
           WHERE profiles.run_id = :run AND profiles.kind = 'heap-peak'
           GROUP BY profiles.process_id) AS peak ON peak.process_id = memory_windows.process_id
WHERE peak.bytes > 0;
