#include "ingest/record/unseen_cpu.h"

#include "base/units.h"
#include "schema/schema.h"

/* Below the first share it is left alone, from the second one and that time a process on it is said. */
enum { CREDIT_PERCENT = 1, SAY_PERCENT = 10, SAY_NS = 50000000, END_NS = 5000000 };

int unseen_cpu_store(struct resolver *resolver, int64_t run_id, pid_t pid, const struct unseen_cpu *cpu,
                     uint64_t *credited_ns, char **text, struct error *err) {
    uint64_t missing = cpu->used_ns > cpu->recorded_ns ? cpu->used_ns - cpu->recorded_ns : 0;
    *text = NULL;
    *credited_ns = 0;
    if (missing == 0 || missing < cpu->used_ns / 100 * CREDIT_PERCENT) return 0;
    int64_t trace = resolve_trace_below(resolver, NULL, "[unsampled]", NULL, 0, 0, err);
    sqlite3_stmt *statement = trace < 0 ? NULL : db_prepare(resolver->db, embedded_text("ingest/unseen_cpu.sql"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_int(statement, ":pid", pid);
    db_bind_int(statement, ":trace", trace);
    db_bind_int(statement, ":ns", (int64_t)missing);
    if (db_run(resolver->db, statement, err)) return -1;
    if (sqlite3_changes(resolver->db->handle) == 0) return 0; /* no CPU time was recorded */
    *credited_ns = missing;
    if (missing < SAY_NS + cpu->processes * END_NS || missing < cpu->used_ns / 100 * SAY_PERCENT) return 0;
    *text = xasprintf("%s of %s of CPU time was not seen: processes that cannot be recorded, such as static ones",
                      units_ns((int64_t)missing).text, units_ns((int64_t)cpu->used_ns).text);
    return 0;
}
