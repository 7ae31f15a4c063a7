# An arena and a free list, told through clear.h: exact by the function that asked them, whoever gave back, one by one or all at once.
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/own_allocator" >out.txt
expect_exact
# The leaf is the allocator itself (arena_alloc, pool_alloc); the sites of the fixture are its callers.
sql t.db "SELECT 'heap ' || site || ' ' || sum(alloc_count) || ' ' || sum(alloc_bytes) || ' ' || sum(free_count) || ' ' || sum(free_bytes)
    FROM heap JOIN (SELECT DISTINCT trace_id AS id, function AS site FROM frames WHERE function GLOB 'site_*') ON id = trace_id
    GROUP BY site ORDER BY site" >got.txt
grep '^heap ' out.txt | sort >want.txt
expect_same_file got.txt want.txt 'sites behind own allocators'
expect_equal "$(sql t.db "SELECT DISTINCT function FROM heap WHERE function GLOB '*_alloc' ORDER BY 1")" $'arena_alloc\npool_alloc' 'who is named'
check_db t.db
