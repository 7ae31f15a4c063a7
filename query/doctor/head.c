#include "query/doctor/findings.h"
#include "query/profile/usual_name.h"
#include "query/runs/sampling_error.h"
#include "query/runs/select.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "schema/schema.h"

enum { TRACES_EXPORTED = 20 };

/* ---- head ---- */

/* How far the figures of a sampled run may be off. */
static int print_errors(const struct doctor_report *report, struct error *err) {
    struct sampling_error error;
    struct buffer text = {0};
    int code = sampling_error_of(report->db, report->options->run_id, &error, err);
    if (code == 1) sampling_error_text(&error, &text);
    if (text.size) fprintf(report->out, "    in 95 of 100 runs within: %s\n", buffer_text(&text));
    buffer_free(&text);
    return code < 0 ? -1 : 0;
}

enum {
    BUDGET_PERCENT,
    BUDGET_COST,
    BUDGET_EXACT_MS,
    BUDGET_LEAST,
    BUDGET_MOST,
    BUDGET_LOCKS_EXACT_MS,
    BUDGET_LOCKS_LEAST,
    BUDGET_LOCKS_MOST,
    BUDGET_HOLD_NS,
    BUDGET_HOLD_VARIANCE,
    BUDGET_ACQUIRES,
    BUDGET_RUN_DELAY_NS
};

static void add_exact_until(struct buffer *line, sqlite3_stmt *row, int column) {
    if (sqlite3_column_type(row, column) == SQLITE_NULL) return;
    buffer_printf(line, "exact until %s, then ", units_ns((int64_t)(sqlite3_column_double(row, column) * 1e6)).text);
}

static void add_heap_budget(struct buffer *line, sqlite3_stmt *row) {
    int64_t least = sqlite3_column_int64(row, BUDGET_LEAST), most = sqlite3_column_int64(row, BUDGET_MOST);
    if (!most) {
        buffer_add_text(line, "each allocation was recorded");
        return;
    }
    add_exact_until(line, row, BUDGET_EXACT_MS);
    buffer_printf(line, "allocations sampled every %s", units_bytes(least).text);
    if (most > least) buffer_printf(line, " to %s", units_bytes(most).text);
}

/* What is wider than `told` holds too seldom: a few long holds are most of it. So are those in which a thread lost its processor, of which a sample
 * meets few: beside other programs an interval held in 150 of 187 runs, on a quiet machine in 193 of 200. */
static void add_hold_error(struct buffer *line, sqlite3_stmt *row) {
    const double normal_95 = 1.959964, told = 40, delay_share = 0.5;
    double hold_ns = sqlite3_column_double(row, BUDGET_HOLD_NS),
           delay_ns = sqlite3_column_double(row, BUDGET_RUN_DELAY_NS),
           error_ns = normal_95 * sqrt(sqlite3_column_double(row, BUDGET_HOLD_VARIANCE)),
           percent = 100 * error_ns / fmax(hold_ns, 1);
    if (hold_ns > 0 && percent < told && delay_ns <= delay_share * error_ns)
        buffer_printf(line, "in 95 of 100 runs the time of all holds is within %s)", units_percent(percent).text);
    else
        buffer_add_text(line, "the time of holds is a rough estimate)");
}

/* Where they were sampled; then the number of all of them is exact, and so are waits. */
static void add_lock_budget(struct buffer *line, sqlite3_stmt *row) {
    int64_t least = sqlite3_column_int64(row, BUDGET_LOCKS_LEAST), most = sqlite3_column_int64(row, BUDGET_LOCKS_MOST);
    if (!most) return;
    buffer_add_text(line, "; locks ");
    add_exact_until(line, row, BUDGET_LOCKS_EXACT_MS);
    buffer_printf(line, "of the acquisitions without a wait 1 in %s", units_count(least).text);
    if (most > least) buffer_printf(line, " to %s", units_count(most).text);
    buffer_add_text(line, " (");
    if (sqlite3_column_type(row, BUDGET_ACQUIRES) != SQLITE_NULL)
        buffer_printf(line, "%s in all, exact, as ",
                      units_count((int64_t)sqlite3_column_double(row, BUDGET_ACQUIRES)).text);
    buffer_add_text(line, "waits are");
    if (sqlite3_column_type(row, BUDGET_ACQUIRES) == SQLITE_NULL) buffer_add_text(line, " exact");
    buffer_add_text(line, "; longest holds are at least so long; ");
    add_hold_error(line, row);
}

/* "budget 3.0 %: exact until 0.4 s, then sampled every 1 KiB to 512 KiB; cost estimated at 2.7 %": 1; 0: there was none; -1: an error. */
static int print_budget(const struct doctor_report *report, struct error *err) {
    struct buffer line = {0};
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/head/budget"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code < 1) return code;
    double percent = sqlite3_column_double(row, BUDGET_PERCENT), cost = sqlite3_column_double(row, BUDGET_COST);
    buffer_printf(&line, "budget %s: ", units_percent(percent).text);
    add_heap_budget(&line, row);
    add_lock_budget(&line, row);
    if (sqlite3_column_type(row, BUDGET_COST) != SQLITE_NULL)
        buffer_printf(&line, "; cost estimated at %s of the program's CPU time%s", units_percent(cost).text,
                      cost > percent ? " (not held: only allocations and locks are sampled)" : "");
    sqlite3_reset(row);
    wrap_print(report->out, report->width, "  ", buffer_text(&line));
    buffer_free(&line);
    return 1;
}

/* Sampling, which the reader of any figure must know. */
static int print_rates(const struct doctor_report *report, int64_t sample_n, int64_t sample_bytes, struct error *err) {
    FILE *out = report->out;
    int budget = print_budget(report, err);
    if (budget) return budget < 0 ? -1 : print_errors(report, err);
    if (sample_n > 1) fprintf(out, "  sampled 1 in %s; figures are scaled up\n", units_count(sample_n).text);
    if (sample_bytes > 1)
        fprintf(out, "  allocations sampled every %s; figures are estimates\n", units_bytes(sample_bytes).text);
    return print_errors(report, err);
}

/* When, how long, how it ended, how many processes. An ingested file often has no duration and no processes. */
static void print_course(const struct doctor_report *report, sqlite3_stmt *row) {
    FILE *out = report->out;
    const struct run_together *together = report->options->together;
    const char *exits = together ? buffer_text(&together->exits) : db_text(row, 5);
    fprintf(out, "  %s%s", together ? "from " : "", units_time(sqlite3_column_int64(row, 3)).text);
    if (sqlite3_column_int64(row, 4))
        fprintf(out, ", %s%s", units_ns(sqlite3_column_int64(row, 4)).text, together ? " in all" : "");
    if (*exits) fprintf(out, ", %s", exits);
    if (sqlite3_column_int64(row, 6)) fprintf(out, ", processes: %s", db_text(row, 6));
    fputc('\n', out);
}

/* The recorder's part is in none of the program's figures. */
static void print_cpu(const struct doctor_report *report, int64_t program_ns, int64_t recorder_ns) {
    struct buffer line = {0};
    if (!program_ns && !recorder_ns) return;
    buffer_printf(&line, "%s of CPU time sampled", units_ns(program_ns).text);
    if (recorder_ns)
        buffer_printf(&line, "; beside it the recording took %s (%.0f %% of both)", units_ns(recorder_ns).text,
                      100.0 * (double)recorder_ns / (double)(program_ns + recorder_ns));
    wrap_print(report->out, report->width, "  ", buffer_text(&line));
    buffer_free(&line);
}

static int print_attached(const struct doctor_report *report, struct error *err) {
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/head/attached"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code < 1) return code;
    fprintf(report->out, "  attached to a program that had run for %s: nothing from before is here",
            units_ns(sqlite3_column_int64(row, 0)).text);
    if (sqlite3_column_type(row, 1) != SQLITE_NULL)
        fprintf(report->out, sqlite3_column_int(row, 2) ? " (%s allocated)" : " (it had %s of memory)",
                units_bytes(sqlite3_column_int64(row, 1)).text);
    fputc('\n', report->out);
    sqlite3_reset(row);
    return 0;
}

/* Only for kinds that the run has. */
static void print_heap(FILE *out, sqlite3_stmt *row) {
    if (sqlite3_column_int64(row, 7) || sqlite3_column_int64(row, 10))
        fprintf(out, "  %s of %s; live at the end: %s of %s\n",
                units_things(sqlite3_column_int64(row, 7), "allocation").text,
                units_bytes(sqlite3_column_int64(row, 8)).text,
                units_things(sqlite3_column_int64(row, 9), "block").text,
                units_bytes(sqlite3_column_int64(row, 10)).text);
}

static void print_waits_and_time(const struct doctor_report *report, sqlite3_stmt *row) {
    if (sqlite3_column_int64(row, 11) || sqlite3_column_int64(row, 12))
        fprintf(report->out, "  %s, %s of them waited, %s in all\n",
                units_things(sqlite3_column_int64(row, 11), "lock operation").text,
                units_count(sqlite3_column_int64(row, 12)).text, units_ns(sqlite3_column_int64(row, 13)).text);
    print_cpu(report, sqlite3_column_int64(row, 14), sqlite3_column_int64(row, 17));
}

/* Where threads waited for processors rather than for each other. Nothing below can say it better. */
static int print_processors(const struct doctor_report *report, struct error *err) {
    enum { DELAY, READY, PROCESSORS };
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/head/processors"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code < 1) return code;
    struct buffer line = {0};
    buffer_printf(&line, "threads were ready and had no processor for %s in all",
                  units_ns(sqlite3_column_int64(row, DELAY)).text);
    if (*db_text(row, READY) && *db_text(row, PROCESSORS))
        buffer_printf(&line, ": in the mean %s ready or running, for %s", db_text(row, READY),
                      units_things(sqlite3_column_int64(row, PROCESSORS), "processor").text);
    wrap_print(report->out, report->width, "  ", buffer_text(&line));
    buffer_free(&line);
    sqlite3_reset(row);
    return 0;
}

/* Other processors may have been idle then. */
static int print_throttled(const struct doctor_report *report, struct error *err) {
    enum { SHARE, THROTTLED };
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/head/throttled"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code < 1) return code;
    struct buffer line = {0};
    buffer_printf(
        &line,
        "its control group may use %g processors: threads that were ready were stopped for %s in all because of that",
        sqlite3_column_double(row, SHARE), units_ns(sqlite3_column_int64(row, THROTTLED)).text);
    wrap_print(report->out, report->width, "  ", buffer_text(&line));
    buffer_free(&line);
    sqlite3_reset(row);
    return 0;
}

/* The most that was live at once, and who had most of it. */
static int print_peak(const struct doctor_report *report, struct error *err) {
    enum { COUNT, BYTES, AT, PID, TOGETHER, FUNCTION, SOURCE, LINE, PERCENT, RUN };
    FILE *out = report->out;
    const struct db *db = report->db;
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/head/peak"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    db_bind_int(row, ":is_together", report->options->together != NULL);
    int code = db_step(report->db, row, err);
    if (code < 1) return code;
    bool has_pid = report->options->together || sqlite3_column_type(row, TOGETHER) != SQLITE_NULL;
    struct buffer place = {0}, shown = {0}, plain = {0};
    const char *source = strrchr(db_text(row, SOURCE), '/');
    source = source ? source + 1 : db_text(row, SOURCE);
    fprintf(out, "  peak: %s of %s", units_things(sqlite3_column_int64(row, COUNT), "block").text,
            units_bytes(sqlite3_column_int64(row, BYTES)).text);
    if (has_pid) fprintf(out, " in process %s", db_text(row, PID));
    if (report->options->together && !db->is_private && !db->source) fprintf(out, " of run %s", db_text(row, RUN));
    fprintf(out, " live at %s", units_ns(sqlite3_column_int64(row, AT)).text);
    if (sqlite3_column_type(row, TOGETHER) != SQLITE_NULL)
        fprintf(out, ", %s in all processes", units_bytes(sqlite3_column_int64(row, TOGETHER)).text);
    buffer_printf(&place, "%s %% of it by %s", db_text(row, PERCENT),
                  usual_name_unless(report->options->full_names, db_text(row, FUNCTION), &plain));
    if (*source) buffer_printf(&place, " (%s:%s)", source, db_text(row, LINE));
    grid_visible(&shown, buffer_text(&place), report->width - 4);
    fprintf(out, "\n    %s\n", buffer_text(&shown));
    sqlite3_reset(row);
    buffer_free(&place);
    buffer_free(&shown);
    buffer_free(&plain);
    return 0;
}

/* The name of an event of a kind of profile. */
static const char *event_of(const char *kind) {
    static const char *const events[][2] = {{"cpu", "CPU sample"},
                                            {"heap", "heap event"},
                                            {"lock", "lock operation"},
                                            {"mvcc", "cell operation"},
                                            {"channels", "channel operation"}};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (strcmp(kind, events[i][0]) == 0) return events[i][1];
    return "event";
}

static int print_small_loss(const struct doctor_report *report, const struct finding *finding, struct error *err) {
    static const char sql[] = "SELECT :evidence ->> 'count', :evidence ->> 'recorded', :evidence ->> 'percent'";
    sqlite3_stmt *row = db_prepare(report->db, sql, err);
    if (!row) return -1;
    db_bind_text(row, ":evidence", finding->evidence);
    if (db_step(report->db, row, err) != 1) return -1;
    int64_t count = sqlite3_column_int64(row, 0);
    fprintf(report->out, "  note: %s %s not recorded (%s %%), %s were\n",
            units_things(count, event_of(finding->subject)).text, count == 1 ? "was" : "were", db_text(row, 2),
            units_count(sqlite3_column_int64(row, 1)).text);
    sqlite3_reset(row);
    return 0;
}

/* A loss that is only a note is a line in the head instead of a row in the sections, where it would look like the worst finding. */
static int print_small_losses(struct doctor_report *report, struct error *err) {
    size_t kept = 0;
    int code = 0;
    for (size_t i = 0; i < report->count && code == 0; i++) {
        const struct finding *finding = &report->findings[i];
        bool is_small = doctor_is_saturation(finding) && strcmp(finding->code, "dropped") == 0 &&
                        strcmp(finding->severity, "note") == 0;
        if (is_small)
            code = print_small_loss(report, finding, err);
        else
            report->findings[kept++] = *finding;
    }
    if (code == 0) report->count = kept;
    return code;
}

int doctor_print_head(struct doctor_report *report, struct error *err) {
    FILE *out = report->out;
    struct buffer line = {0};
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/head/run"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    int code = db_step(report->db, row, err);
    if (code < 1) return code < 0 ? -1 : error_fail(err, "%s: the run no longer exists", report->db->path);
    if (report->options->together)
        buffer_printf(&line, "%s: %s", buffer_text(&report->options->together->title), db_text(row, 2));
    else
        buffer_printf(&line, "run %s%s%s%s: %s", db_text(row, 0), *db_text(row, 1) ? " (" : "", db_text(row, 1),
                      *db_text(row, 1) ? ")" : "", db_text(row, 2));
    struct buffer shown = {0};
    grid_visible(&shown, buffer_text(&line), report->width);
    fprintf(out, "%s%s%s\n", doctor_bold(report), buffer_text(&shown), doctor_plain(report));
    print_course(report, row);
    if (report->options->part) fprintf(report->out, "  only %s\n", report->options->part);
    int attached = print_attached(report, err);
    print_heap(out, row);
    int peak = attached ? attached : print_peak(report, err);
    print_waits_and_time(report, row);
    int64_t sample_n = sqlite3_column_int64(row, 15), sample_bytes = sqlite3_column_int64(row, 16);
    sqlite3_reset(row);
    buffer_free(&line);
    buffer_free(&shown);
    if (peak || print_processors(report, err) || print_throttled(report, err) ||
        print_rates(report, sample_n, sample_bytes, err))
        return -1;
    return print_small_losses(report, err);
}

/* ---- foot ---- */

/* The stacks of the findings of one section that were shown: "3,17,20"; empty if there are none. */
static int shown_traces(struct doctor_report *report, const char *section, struct buffer *ids, struct error *err) {
    const char *sql = report->options->together ? embedded_text("runs/run_together/same")
                                                : "SELECT value FROM json_each(:ids) WHERE value > 0";
    int count = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct finding *finding = &report->findings[i];
        if (!finding->shown || strcmp(finding->section, section) != 0) continue;
        sqlite3_stmt *row = db_prepare(report->db, sql, err);
        if (!row) return -1;
        db_bind_text(row, ":ids", finding->trace_ids);
        int code;
        while ((code = db_step(report->db, row, err)) == 1)
            if (count++ < TRACES_EXPORTED) buffer_printf(ids, "%s%s", ids->size ? "," : "", db_text(row, 0));
        if (code < 0) return -1;
    }
    return 0;
}

/* The run was read from a file into a private warehouse, which ends with this process: the commands name the file again. */
static int print_next_of_file(struct doctor_report *report, struct error *err) {
    struct buffer file = {0};
    sqlite3_stmt *row = db_prepare(report->db, "SELECT source FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    if (db_step(report->db, row, err) < 1) return -1;
    /* a run that was recorded came in a directory with all its rows, and knows nothing of that */
    escape_shell(&file, strcmp(db_text(row, 0), "profile") == 0 ? report->db->path : db_text(row, 0));
    sqlite3_reset(row);
    fprintf(report->out, "\n%snext%s\n", doctor_bold(report), doctor_plain(report));
    fprintf(report->out, "  clear query 'SELECT * FROM doctor WHERE run_id = :run' run=%s\n", buffer_text(&file));
    fprintf(report->out, "  clear ingest %s   # stores it, to export findings and to compare runs\n",
            buffer_text(&file));
    buffer_free(&file);
    return 0;
}

/* Ids are of what was fetched for this process: the commands name the run in the store. */
static int print_next_of_store(struct doctor_report *report, struct error *err) {
    struct buffer db = {0}, run = {0};
    warehouse_words_add(&db, report->db);
    int code = run_word_add(&run, report->db, report->options->run_id, err);
    if (code == 0)
        fprintf(report->out,
                "\n%snext%s\n  clear query %s --runs %s 'SELECT * FROM doctor'\n"
                "  clear pull %s --from%s   # into a file, to export findings\n",
                doctor_bold(report), doctor_plain(report), buffer_text(&db), buffer_text(&run), buffer_text(&run),
                buffer_text(&db) + strlen("--db"));
    buffer_free(&db);
    buffer_free(&run);
    return code;
}

/* The values of an export of findings. A viewer shows the last one first, so the figure of the worst finding is last. */
static const char *export_columns(const struct doctor_report *report, const char *section) {
    static const char allocated[] = "sum(inuse_count) AS \"inuse_objects/count\", sum(inuse_bytes) AS "
                                    "\"inuse_space/bytes\",\n    sum(alloc_count) AS \"alloc_objects/count\", "
                                    "sum(alloc_bytes) AS \"alloc_space/bytes\"";
    static const char live[] = "sum(alloc_count) AS \"alloc_objects/count\", sum(alloc_bytes) AS "
                               "\"alloc_space/bytes\",\n    sum(inuse_count) AS \"inuse_objects/count\", "
                               "sum(inuse_bytes) AS \"inuse_space/bytes\"";
    static const char waits[] =
        "sum(contended + read_contended + timeouts + unfinished) AS \"contentions/count\",\n    "
        "sum(wait_ns + read_wait_ns) AS \"delay/nanoseconds\"";
    if (strcmp(section, "lock") == 0) return waits;
    for (size_t i = 0; i < report->count; i++)
        if (report->findings[i].shown && strcmp(report->findings[i].section, section) == 0)
            return strcmp(report->findings[i].code, "arena") == 0 ? allocated : live;
    return live;
}

/* Where more is said of the worst finding that was shown. --why numbers those of one whole run. */
static void print_help(const struct doctor_report *report, const char *db) {
    const struct doctor_options *options = report->options;
    for (size_t i = 0; i < report->count; i++) {
        const struct finding *finding = &report->findings[i];
        if (!finding->shown || !*finding->brief || doctor_is_saturation(finding)) continue;
        fprintf(report->out, "  clear help %s-%s   # more about it\n", finding->section, finding->code);
        if (!options->together && !options->part)
            fprintf(report->out, "  clear doctor --db %s %lld --why %lld   # its rule and figures\n", db,
                    (long long)options->run_id, (long long)finding->number);
        return;
    }
}

int doctor_print_next(struct doctor_report *report, struct error *err) {
    static const struct { const char *section, *view; } exports[] = {{"heap", "heap"}, {"lock", "lock_use"}};
    const struct run_together *together = report->options->together;
    if (together && (report->db->is_private || report->db->source)) return 0; /* no command names what was fetched */
    if (report->db->is_private) return print_next_of_file(report, err);
    if (report->db->source) return print_next_of_store(report, err);
    struct buffer db = {0}, condition = {0};
    int code = 0;
    if (together)
        buffer_add_text(&condition, buffer_text(&together->condition));
    else
        buffer_printf(&condition, "run_id = %lld", (long long)report->options->run_id);
    escape_shell(&db, report->db->path);
    fprintf(report->out, "\n%snext%s\n", doctor_bold(report), doctor_plain(report));
    print_help(report, buffer_text(&db));
    for (size_t i = 0; i < sizeof exports / sizeof *exports && code == 0; i++) {
        struct buffer ids = {0};
        code = shown_traces(report, exports[i].section, &ids, err);
        if (code == 0 && ids.size)
            fprintf(report->out,
                    "  clear export --db %s -o %s-findings.pb.gz --sql 'SELECT trace_id,\n"
                    "    %s\n"
                    "    FROM %s WHERE %s AND trace_id IN (%s) GROUP BY 1'\n",
                    buffer_text(&db), exports[i].section, export_columns(report, exports[i].section), exports[i].view,
                    buffer_text(&condition), buffer_text(&ids));
        buffer_free(&ids);
    }
    fprintf(report->out, "  clear query --db %s 'SELECT * FROM doctor WHERE %s'%s\n", buffer_text(&db),
            buffer_text(&condition), together ? "   # each run alone" : "");
    buffer_free(&db);
    buffer_free(&condition);
    return code;
}
