#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grid.h"
#include "base/nearest.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/team/team_options.h"
#include "ingest/team/store_status.h"
#include "ingest/team/team_check.h"
#include "ingest/team/team_gc.h"
#include "ingest/team/team_move.h"
#include "ingest/team/worst_findings.h"
#include "schema/retention.h"

struct store_options {
    struct team_options team;
    struct retention rules;
    const char *shard;
    const char *to_project, *until, *program;
    struct findings_request findings;
    bool json, dry_run, all_projects, repair;
};

enum { FINDINGS_LAST = 100, FINDINGS_TOP = 20, UNSET = -1 };

static int take_keep(void *into, const struct option_row *row, const char *text, struct error *err) {
    return retention_keep((struct retention *)(void *)((char *)into + row->offset), "--keep", text, err);
}

#define AT(member) offsetof(struct store_options, member)
static const struct option_row store_rows[] = {
    {"db", .type = OPTION_TEXT, .offset = AT(team.address), .argument = "URL",
     .help = "Where the store is: `postgresql://[USER@]HOST[:PORT]/DATABASE[?OPTIONS]`. Default: `$CLEAR_STORE`, then "
             "`$CLEAR_DB` or `database` of clear.yaml where that is a store."},
    {"to", .type = OPTION_TEXT, .offset = AT(team.address), .argument = "URL"}, /* as clear push has it */
    {"json", .type = OPTION_SWITCH, .offset = AT(json),
     .help = "Of status and gc: print a JSON object. Of findings: an array."},
    {"project", .type = OPTION_TEXT, .offset = AT(team.project), .argument = "NAME",
     .help =
         "Of findings: the project of the runs; default: `$CLEAR_PROJECT`, then `default`. Of gc: the project "
         "whose runs and names are deleted; default: all. Of shard: the project that is on another server. Of move: "
         "the project that has the runs."},
    {"dry-run", .letter = 'n', .type = OPTION_SWITCH, .offset = AT(dry_run),
     .help = "Of gc and move: print what would be deleted or moved, and change nothing."},
    {0},
};
static const struct option_row store_shard_rows[] = {
    {"at", .type = OPTION_TEXT, .offset = AT(shard), .argument = "URL",
     .help = "The store on that server, made with `clear store init` there."},
    {0},
};
static const struct option_row store_gc_rows[] = {
    {"keep", .type = OPTION_TAKE, .take = take_keep, .offset = AT(rules), .argument = "TIME",
     .help = "Keep the runs of the last TIME, such as `90d` or `26w`, and the rest of the month in which that begins. "
             "Without it only names "
             "are deleted."},
    {0},
};
static const struct option_row store_move_rows[] = {
    {"as", .type = OPTION_TEXT, .offset = AT(to_project), .argument = "NAME",
     .help = "Move runs to this project of the same store."},
    {"until", .type = OPTION_TEXT, .offset = AT(until), .argument = "MONTH",
     .help = "With `--as`: only runs that started in this month (UTC) or earlier, as 2026-01."},
    {"program", .type = OPTION_TEXT, .offset = AT(program), .argument = "NAME",
     .help = "With `--as`: only runs of this program, the first word of the command without its directory."},
    {0},
};
static const struct option_row store_check_rows[] = {
    {"repair", .type = OPTION_SWITCH, .offset = AT(repair),
     .help =
         "Delete names that are others than their keys say. The next push of a run that had them brings them back."},
    {0},
};
static const struct option_row store_findings_rows[] = {
    {"all-projects", .type = OPTION_SWITCH, .offset = AT(all_projects), .help = "Of all projects."},
    {"last", .type = OPTION_COUNT, .offset = AT(findings.last), .max = INT64_MAX, .argument = "N",
     .help = "Of the newest N runs of each project. Default: 100. 0: of all."},
    {"top", .type = OPTION_COUNT, .offset = AT(findings.top), .max = INT64_MAX, .argument = "N",
     .help = "Print the first N findings. Default: 20, with `--json` all. 0: all."},
    {0},
};
#undef AT
const struct option_group store_options[] = {{"Store", store_rows, 0},
                                             {"Of gc", store_gc_rows, 0},
                                             {"Of shard and move", store_shard_rows, 0},
                                             {"Of move", store_move_rows, 0},
                                             {"Of check", store_check_rows, 0},
                                             {"Of findings", store_findings_rows, 0},
                                             CLI_OPTIONS_END};

/* ---- init and upgrade -------------------------------------------------------------------------------------------- */

static int make(const struct store_options *options, const char *address, struct error *err) {
    int64_t before;
    bool is_mended;
    char *shown = team_shown_address(address);
    (void)options;
    int code = team_make(address, true, &before, &is_mended, err);
    if (code == 0)
        printf("%s: %s\n", shown, before == 0 ? "the store is made" : "the store was there, and is up to date");
    free(shown);
    return code;
}

static int upgrade(const struct store_options *options, const char *address, struct error *err) {
    int64_t before, after;
    bool is_mended, is_mended_again;
    char *shown = team_shown_address(address);
    (void)options;
    int code = team_make(address, false, &before, &is_mended, err);
    if (code == 0) code = team_make(address, false, &after, &is_mended_again, err);
    if (code == 0 && before == after)
        printf("%s: %s\n", shown, is_mended ? "what was missing or was changed was made again" : "is up to date");
    if (code == 0 && before != after) printf("%s: version %" PRId64 ", was %" PRId64 "\n", shown, after, before);
    free(shown);
    return code;
}

static int put_on(const struct store_options *options, const char *address, struct error *err) {
    if (!options->team.project || !options->shard)
        return error_usage(
            err, "say which project is where: clear store shard --project NAME --at postgresql://HOST/DATABASE");
    if (team_put_shard(address, options->team.project, options->shard, err)) return -1;
    char *shown = team_shown_address(options->shard);
    printf("project %s is on %s\n", options->team.project, shown);
    free(shown);
    return 0;
}

/* ---- move -------------------------------------------------------------------------------------------------------- */

/* The first day of a month that is written 2026-01. */
static int read_month(const char *text, char day[16], struct error *err) {
    static const char form[] = "dddd-dd";
    bool is_month = strlen(text) == sizeof form - 1;
    for (size_t i = 0; is_month && form[i]; i++)
        is_month = form[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
    is_month = is_month && strcmp(text + 5, "01") >= 0 && strcmp(text + 5, "12") <= 0 && strcmp(text, "0001") >= 0;
    if (!is_month) return error_usage(err, "--until: a month is written 2026-01, not '%.40s'", text);
    snprintf(day, 16, "%s-01", text);
    return 0;
}

static int check_move(const struct store_options *options, struct error *err) {
    if (!options->team.project || !options->shard == !options->to_project)
        return error_usage(err, "say what goes where: clear store move --project NAME --at postgresql://HOST/DATABASE, "
                                "or --as NAME for another project of the store");
    if (options->shard && (options->until || options->program))
        return error_usage(err, "a project goes to another server as a whole: give the runs a project of their own "
                                "with --as first");
    if (options->to_project && strcmp(options->to_project, options->team.project) == 0)
        return error_usage(err, "the runs are in project %s", options->team.project);
    return 0;
}

static void print_move(const struct team_move *move, const struct store_options *options) {
    char *where = options->shard ? team_shown_address(options->shard) : xasprintf("project %s", options->to_project);
    printf("%s%s of project %s to %s", options->dry_run ? "would move " : "moved ",
           units_things(move->runs, "run").text, options->team.project, where);
    if (options->shard && !options->dry_run) printf(", %s", units_bytes(move->bytes).text);
    if (move->known && options->shard) printf("; %s were there", units_count(move->known).text);
    if (move->known && !options->shard) printf("; %s that it has already stay", units_count(move->known).text);
    puts(options->dry_run || !move->runs ? "" : "; clear store gc gives the space back");
    free(where);
}

static int move(const struct store_options *options, const char *address, struct error *err) {
    struct team_move moved;
    char until[16];
    if (check_move(options, err) || (options->until && read_month(options->until, until, err))) return -1;
    const struct team_move_wish wish = {.project = options->team.project,
                                        .to_address = options->shard,
                                        .to_project = options->to_project,
                                        .until = options->until ? until : NULL,
                                        .program = options->program,
                                        .is_trial = options->dry_run};
    if (team_move(&moved, address, &wish, err)) return -1;
    print_move(&moved, options);
    return 0;
}

static int grant(const struct store_options *options, const char *address, struct error *err) {
    (void)options;
    if (team_grant(address, err)) return -1;
    puts("clear_push may add runs, clear_read may read; now, for each user: GRANT clear_push TO the_user");
    return 0;
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

static void print_projects(const struct store_status *status) {
    struct grid grid = {.columns = 4};
    grid_left(&grid, "PROJECT");
    grid_right(&grid, "RUNS");
    grid_left(&grid, "OLDEST");
    grid_left(&grid, "NEWEST");
    for (size_t i = 0; i < status->project_count; i++) {
        const struct store_project *project = &status->projects[i];
        grid_left(&grid, project->name);
        grid_right(&grid, units_count(project->runs).text);
        grid_left(&grid, project->runs ? units_time(project->oldest_ns).text : "-");
        grid_left(&grid, project->runs ? units_time(project->newest_ns).text : "-");
    }
    grid_print(&grid, stdout, true);
    grid_free(&grid);
}

static void print_shards(const struct store_status *status, FILE *out) {
    for (size_t i = 0; i < status->shard_count; i++)
        fprintf(out, "project %s is on %s: its runs are not counted here\n", status->shards[i].project,
                status->shards[i].address);
}

static void print_tables(const struct store_status *status) {
    struct grid grid = {.columns = 3};
    grid_left(&grid, "TABLE");
    grid_right(&grid, "SIZE");
    grid_right(&grid, "ROWS, ABOUT");
    for (size_t i = 0; i < status->table_count; i++) {
        grid_left(&grid, status->tables[i].name);
        grid_right(&grid, units_bytes(status->tables[i].bytes).text);
        grid_right(&grid, status->tables[i].rows < 0 ? "-" : units_count(status->tables[i].rows).text);
    }
    grid_print(&grid, stdout, true);
    grid_free(&grid);
}

static void print_json(const struct store_status *status) {
    struct buffer text = {0};
    buffer_printf(&text, "{\"version\":%" PRId64 ",\"bytes\":%" PRId64 ",\"projects\":[", status->version,
                  status->bytes);
    for (size_t i = 0; i < status->project_count; i++) {
        const struct store_project *project = &status->projects[i];
        buffer_add_text(&text, i ? ",{" : "{");
        buffer_add_json_field(&text, "name", project->name);
        buffer_printf(&text, ",\"runs\":%" PRId64 ",\"oldest_ns\":%" PRId64 ",\"newest_ns\":%" PRId64 "}",
                      project->runs, project->oldest_ns, project->newest_ns);
    }
    buffer_add_text(&text, "],\"shards\":[");
    for (size_t i = 0; i < status->shard_count; i++) {
        buffer_add_text(&text, i ? ",{" : "{");
        buffer_add_json_field(&text, "project", status->shards[i].project);
        buffer_add_char(&text, ',');
        buffer_add_json_field(&text, "address", status->shards[i].address);
        buffer_add_char(&text, '}');
    }
    buffer_add_text(&text, "],\"tables\":[");
    for (size_t i = 0; i < status->table_count; i++) {
        buffer_add_text(&text, i ? ",{" : "{");
        buffer_add_json_field(&text, "name", status->tables[i].name);
        buffer_printf(&text, ",\"bytes\":%" PRId64 ",\"rows\":%" PRId64 "}", status->tables[i].bytes,
                      status->tables[i].rows);
    }
    buffer_add_text(&text, "]}");
    puts(buffer_text(&text));
    buffer_free(&text);
}

static int show(const struct store_options *options, const char *address, struct error *err) {
    struct store_status status;
    int code = store_status_read(&status, address, err);
    if (code == 0 && options->json) {
        print_json(&status);
    } else if (code == 0) {
        printf("%s: PostgreSQL %" PRId64 ", version %" PRId64 " of the store, %s\n\n", status.address,
               status.server_version / 10000, status.version, units_bytes(status.bytes).text);
        print_projects(&status);
        print_shards(&status, stdout);
        putchar('\n');
        print_tables(&status);
    }
    store_status_free(&status);
    return code;
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static void print_findings_json(const struct worst_findings *findings) {
    struct buffer text = {0};
    for (size_t i = 0; i < findings->count; i++) {
        const struct worst_finding *item = &findings->items[i];
        const struct {
            const char *name, *value;
        } fields[] = {{"project", item->project},   {"section", item->section}, {"code", item->code},
                      {"severity", item->severity}, {"subject", item->subject}, {"latest_run", item->run}};
        buffer_add_text(&text, i ? ",\n{" : "[{");
        for (size_t j = 0; j < sizeof fields / sizeof *fields; j++) {
            buffer_add_json_field(&text, fields[j].name, fields[j].value);
            buffer_add_char(&text, ',');
        }
        buffer_printf(&text, "\"latest_started_ns\":%" PRId64 ",\"runs\":%" PRId64 "}", item->started_ns, item->runs);
    }
    buffer_add_text(&text, findings->count ? "]" : "[]");
    puts(buffer_text(&text));
    buffer_free(&text);
}

static void print_findings(const struct worst_findings *findings, bool has_projects) {
    struct grid grid = {.columns = has_projects ? 7 : 6};
    if (has_projects) grid_left(&grid, "PROJECT");
    grid_left(&grid, "SEVERITY");
    grid_left(&grid, "CODE");
    grid_right(&grid, "RUNS");
    grid_left(&grid, "LATEST");
    grid_left(&grid, "STARTED");
    grid_left(&grid, "SUBJECT");
    for (size_t i = 0; i < findings->count; i++) {
        const struct worst_finding *item = &findings->items[i];
        char *code = xasprintf("%s/%s", item->section, item->code), *run = xasprintf("%.8s", item->run);
        if (has_projects) grid_left(&grid, item->project);
        grid_left(&grid, item->severity);
        grid_left(&grid, code);
        grid_right(&grid, units_count(item->runs).text);
        grid_left(&grid, run);
        grid_left(&grid, units_time(item->started_ns).text);
        grid_left(&grid, item->subject);
        free(code);
        free(run);
    }
    grid_print(&grid, stdout, true);
    grid_free(&grid);
}

/* Those of other servers are not among them, which is said. */
static int tell_shards(const char *address, struct error *err) {
    struct store_status status;
    int code = store_shards_read(&status, address, err);
    fflush(stdout);
    if (code == 0) print_shards(&status, stderr);
    store_status_free(&status);
    return code;
}

static int show_findings(const struct store_options *options, const char *address, struct error *err) {
    struct worst_findings findings;
    struct findings_request request = options->findings;
    request.project = options->all_projects ? NULL : team_project(&options->team);
    if (request.top < 0) request.top = options->json ? 0 : FINDINGS_TOP;
    if (options->all_projects && options->team.project)
        return error_usage(err, "--project and --all-projects exclude each other");
    int code = worst_findings_read(&findings, address, &request, err);
    if (code == 0 && options->json)
        print_findings_json(&findings);
    else if (code == 0 && findings.count)
        print_findings(&findings, options->all_projects);
    else if (code == 0)
        puts("no findings");
    worst_findings_free(&findings);
    if (code == 0 && options->all_projects) code = tell_shards(address, err);
    return code;
}

/* ---- gc ---------------------------------------------------------------------------------------------------------- */

static int64_t given_back(const struct team_gc *gc) {
    int64_t bytes = 0;
    for (size_t i = 0; i < gc->month_count; i++)
        bytes += gc->months[i].bytes - gc->months[i].bytes_after;
    return bytes;
}

static void print_gc_json(const struct team_gc *gc, bool is_trial) {
    printf("{\"months\":[");
    for (size_t i = 0; i < gc->month_count; i++) {
        const struct team_gc_month *month = &gc->months[i];
        printf("%s{\"month\":\"%s\",\"runs\":%" PRId64 ",\"kept\":%" PRId64 ",\"bytes\":%" PRId64
               ",\"bytes_after\":%" PRId64 "}",
               i ? "," : "", month->text, month->runs, month->kept, month->bytes, month->bytes_after);
    }
    printf("],\"runs\":%" PRId64 ",\"names\":%" PRId64 ",\"dropped_bytes\":%" PRId64 ",\"later\":%" PRId64
           ",\"done\":%s}\n",
           gc->runs, gc->name_count, given_back(gc), gc->later_count, is_trial ? "false" : "true");
}

/* What a month with runs that stay takes afterwards, a trial does not know. */
static void print_months(const struct team_gc *gc, bool is_trial) {
    struct grid grid = {.columns = 5};
    grid_left(&grid, "MONTH");
    grid_right(&grid, "DELETED");
    grid_right(&grid, "STAY");
    grid_right(&grid, "SIZE");
    grid_right(&grid, "AFTER");
    for (size_t i = 0; i < gc->month_count; i++) {
        grid_left(&grid, gc->months[i].text);
        grid_right(&grid, units_count(gc->months[i].runs).text);
        grid_right(&grid, units_count(gc->months[i].kept).text);
        grid_right(&grid, units_bytes(gc->months[i].bytes).text);
        grid_right(&grid, is_trial && gc->months[i].kept ? "-" : units_bytes(gc->months[i].bytes_after).text);
    }
    grid_print(&grid, stdout, true);
    grid_free(&grid);
    if (gc->month_count) putchar('\n');
}

static void print_gc(const struct team_gc *gc, bool is_trial) {
    print_months(gc, is_trial);
    printf("%s %s, and %s of names and stacks that no run uses\n", is_trial ? "would delete" : "deleted",
           units_things(gc->runs, "run").text, units_things(gc->name_count, "row").text);
    if (gc->month_count)
        printf("%s %s to the disk%s\n", units_bytes(given_back(gc)).text, is_trial ? "are given back" : "given back",
               is_trial ? ", and of months with runs that stay what the others take" : "");
    if (gc->later_count)
        printf("others held %s: the next clear store gc gives back what was deleted there\n",
               units_things(gc->later_count, "month").text);
}

static int collect(const struct store_options *options, const char *address, struct error *err) {
    struct team_gc gc;
    const struct team_gc_wish wish = {
        .oldest_ns = options->rules.has_keep ? clock_realtime_ns() - options->rules.keep_ns : INT64_MIN,
        .project = options->team.project,
        .is_trial = options->dry_run};
    int code = team_gc(&gc, address, &wish, err);
    if (code == 0 && options->json)
        print_gc_json(&gc, options->dry_run);
    else if (code == 0)
        print_gc(&gc, options->dry_run);
    team_gc_free(&gc);
    return code;
}

/* ---- check ------------------------------------------------------------------------------------------------------- */

static void print_check_json(const struct team_check *check, bool is_repaired) {
    struct buffer text = {0};
    buffer_printf(&text, "{\"wrong\":%" PRId64 ",\"missing\":%" PRId64 ",\"repaired\":%s,\"runs\":[", check->wrong,
                  check->missing, is_repaired ? "true" : "false");
    for (size_t i = 0; i < check->run_count; i++) {
        buffer_add_text(&text, i ? ",{" : "{");
        buffer_add_json_field(&text, "project", check->runs[i].project);
        buffer_add_char(&text, ',');
        buffer_add_json_field(&text, "run", check->runs[i].uuid);
        buffer_add_char(&text, '}');
    }
    buffer_add_text(&text, "]}");
    puts(buffer_text(&text));
    buffer_free(&text);
}

static void print_check(const struct team_check *check, bool is_repaired) {
    for (size_t i = 0; i < check->run_count; i++)
        printf("project %s: run %s lacks names\n", check->runs[i].project, check->runs[i].uuid);
    printf("%s %s than their keys say%s, %s missing\n", units_things(check->wrong, "name").text,
           check->wrong == 1 ? "is another" : "are others", is_repaired && check->wrong ? " and deleted" : "",
           units_count(check->missing).text);
    if (check->run_count && is_repaired)
        puts("the next clear push from a file that has such a run brings its names back");
    else if (check->run_count || check->wrong)
        puts("clear store check --repair deletes such names; a clear push then brings them back");
}

/* The status says whether a pull of every run would succeed now. */
static int check_names(const struct store_options *options, const char *address, struct error *err) {
    struct team_check check;
    int code = team_check(&check, address, options->repair, err);
    if (code == 0 && options->json)
        print_check_json(&check, options->repair);
    else if (code == 0)
        print_check(&check, options->repair);
    if (code == 0 && check.run_count)
        code = error_fail(err, "%s names", check.run_count == 1 ? "a run lacks" : "runs lack");
    team_check_free(&check);
    return code;
}

/* ---- the word ---------------------------------------------------------------------------------------------------- */

/* An option that the word does not have is no wish to pass over: clear store status --project x is not about x. */
static int check_options(const char *word, const struct store_options *options, struct error *err) {
    bool is_gc = strcmp(word, "gc") == 0, is_shard = strcmp(word, "shard") == 0, is_move = strcmp(word, "move") == 0;
    bool is_findings = strcmp(word, "findings") == 0, is_check = strcmp(word, "check") == 0;
    const struct {
        const char *name;
        bool is_given, is_taken;
    } all[] = {{"project", options->team.project, is_gc || is_shard || is_move || is_findings},
               {"keep", options->rules.has_keep, is_gc},
               {"dry-run", options->dry_run, is_gc || is_move},
               {"at", options->shard, is_shard || is_move},
               {"as", options->to_project, is_move},
               {"until", options->until, is_move},
               {"program", options->program, is_move},
               {"repair", options->repair, is_check},
               {"all-projects", options->all_projects, is_findings}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_given && !all[i].is_taken)
            return error_usage(err, "clear store %s has no option --%s", word, all[i].name);
    return 0;
}

int command_store(int argc, char **argv, struct error *err) {
    static const struct {
        const char *word;
        int (*run)(const struct store_options *options, const char *address, struct error *err);
    } words[] = {{"init", make},       {"status", show}, {"findings", show_findings},
                 {"upgrade", upgrade}, {"gc", collect},  {"check", check_names},
                 {"shard", put_on},    {"move", move},   {"grant", grant}};
    struct store_options options = {.findings = {.last = FINDINGS_LAST, .top = UNSET}};
    if (cli_options(&argc, argv, &options, err) < 0 || cli_at_most(1, argc, argv, err)) return -1;
    for (size_t i = 0; argc > 1 && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, argv[1]) != 0) continue;
        const char *address = team_address(&options.team, "--db", err);
        if (!address || check_options(argv[1], &options, err)) return -1;
        return words[i].run(&options, address, err);
    }
    struct nearest nearest = {.word = argc > 1 ? argv[1] : ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        nearest_offer(&nearest, words[i].word);
    if (argc < 2)
        return error_usage(err, "say what to do with the store: clear store init, status, findings, upgrade, gc, "
                                "check, shard, move or grant");
    return error_usage(
        err, "clear store has no '%s'%s%s; it has init, status, findings, upgrade, gc, check, shard, move and grant",
        argv[1], *nearest.found ? ", did you mean " : "", nearest.found);
}
