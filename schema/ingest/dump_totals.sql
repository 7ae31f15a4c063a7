-- What run :run counted in all, for the closing words of a recording.
WITH of_run AS (SELECT id FROM profiles WHERE run_id = :run),
     heap_sums AS (SELECT sum(alloc_count) AS a, sum(alloc_bytes) AS b, sum(free_count) AS c, sum(free_bytes) AS d,
                          count(DISTINCT trace_id) AS e FROM sites WHERE profile_id IN of_run),
     lock_sums AS (SELECT sum(acquires + read_acquires) AS a, count(DISTINCT object_id) AS b FROM locks
                   WHERE profile_id IN of_run),
     cell_sums AS (SELECT sum(reads + commits) AS a, count(DISTINCT object_id) AS b FROM cells
                   WHERE profile_id IN of_run),
     channel_sums AS (SELECT sum(pushes) AS a, count(DISTINCT object_id) AS b FROM channels
                      WHERE profile_id IN of_run),
     fiber_sums AS (SELECT sum(total_fibers) AS a FROM fibers WHERE profile_id IN of_run)
SELECT heap_sums.a, heap_sums.b, heap_sums.c, heap_sums.d, heap_sums.e, lock_sums.a, lock_sums.b, cell_sums.a, cell_sums.b,
       channel_sums.a, channel_sums.b, fiber_sums.a
FROM heap_sums, lock_sums, cell_sums, channel_sums, fiber_sums;
