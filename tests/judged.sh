# What the doctor says of programs that look alike to a recorder: a worker without work and one that holds the program up; a table that is
# kept and a leak.
. "$(dirname "$0")/lib.sh"

severity() { # severity SECTION SUBJECT: of the newest run
    sql t.db "SELECT code, severity FROM doctor WHERE run_id = (SELECT max(id) FROM runs) AND section = '$1' AND subject GLOB '$2'"
}
expect_status 0 profile -- "$FIXTURES/judged" pool >out.txt
expect_equal "$(severity wait '*jobs_there')" 'slow-producer|note' 'a worker without work'
expect_status 0 profile -- "$FIXTURES/judged" starved >out.txt
expect_equal "$(severity wait '*jobs_there')" 'slow-producer|warning' 'a worker that main waits for'
expect_status 0 profile -- "$FIXTURES/judged" table >out.txt
expect_equal "$(severity heap add_entry)" 'leak|note' 'a table of the start'
expect_status 0 profile -- "$FIXTURES/judged" leak >out.txt
expect_equal "$(severity heap add_entry)" 'leak|warning' 'a leak all through the run'
check_db t.db
