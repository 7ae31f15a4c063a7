#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/sum.h"
#include "base/units.h"
#include "query/doctor/findings.h"
#include "query/profile/filter.h"
#include "query/profile/graph/graph.h"
#include "query/profile/load/load.h"
#include "query/profile/start_up.h"
#include "query/profile/usual_name.h"
#include "query/runs/sampling_error.h"
#include "schema/schema.h"

enum {
    NAME_WIDTH = 58,
    UNSAMPLED_PERCENT = 10,
    SHARED_STORES_PERCENT = 20 /* of the CPU time */
};                             /* columns of a line that the figures leave; share of the CPU time that is explained */

/* One kind of profile of the run after the filter, as a graph of functions and calls. */
struct calls {
    struct doctor_report *report;
    const char *kind;
    struct profile profile;
    struct graph graph;
    size_t type;
    int64_t total;  /* of all samples, before the filter */
    bool overflows; /* a sum was beyond 64 bits */
    struct sampling_scale sampling;
    struct shown_names names; /* of the table that is printed */
};

typedef int calls_writer(struct calls *calls, void *context, struct error *err);

bool doctor_wants_functions(const struct doctor_options *options) {
    return options->has_by || options->cumulative || options->focus || options->ignore;
}

/* ---- a kind ---- */

/* The figure of --by for the heap, else the default sample type of the profile. */
static int choose_type(struct calls *calls, struct error *err) {
    struct error ignored = {0};
    const char *wanted = heap_by_type(calls->report->options->by);
    bool is_heap = strcmp(calls->kind, "heap") == 0;
    if (is_heap && profile_find_type(&calls->profile, wanted, &calls->type, &ignored) == 0) return 0;
    return profile_find_type(&calls->profile, NULL, &calls->type, err);
}

static int check_sums(const struct calls *calls, struct error *err) {
    return calls->overflows ? error_fail(err, "%s: %s: the sum is larger than 2^63 - 1", calls->kind,
                                         calls->profile.types[calls->type].type)
                            : 0;
}

/* The total of the kind. Where 64 bits hold the sizes of its values, no sum wraps that counts each sample once. */
static int sum_up(struct calls *calls, struct error *err) {
    int64_t sizes = 0;
    for (size_t i = 0; i < calls->profile.sample_count; i++) {
        int64_t value = profile_value(&calls->profile, i, calls->type);
        sum_add(&calls->total, value, &calls->overflows);
        sum_add(&sizes, value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value, &calls->overflows);
    }
    return check_sums(calls, err);
}

static int narrow(struct calls *calls, struct error *err) {
    const struct doctor_options *options = calls->report->options;
    const struct filter_options wanted = {.focus = options->focus, .ignore = options->ignore};
    const struct filter_units units = {0};
    if (sum_up(calls, err) < 0) return -1;
    /* Remove allocator wrappers, as in the findings. */
    if (filter_uninteresting(&calls->profile, err) < 0) return -1;
    if (filter_apply(&calls->profile, &wanted, &units, NULL, NULL, err) < 0) return error_prefix(err, "--");
    filter_aggregate(&calls->profile, GRANULARITY_FILEFUNCTIONS, false, false);
    return 0;
}

static int with_kind(struct doctor_report *report, const char *kind, calls_writer *write, void *context,
                     struct error *err) {
    struct calls calls = {.report = report, .kind = kind, .names.is_full = report->options->full_names};
    int64_t id = report->options->run_id;
    const struct run_set run = {&id, 1};
    const struct load_request request = {.kind = kind, .runs = &run};
    if (profile_load(&calls.profile, report->db, &request, err) < 0) return -1;
    int code = choose_type(&calls, err);
    if (code == 0)
        code = sampling_scale_of(report->db, id, kind, calls.profile.types[calls.type].type, &calls.sampling, err);
    if (code == 0) code = narrow(&calls, err);
    if (code == 0) {
        graph_build(&calls.graph, &calls.profile,
                    &(struct graph_options){.type = calls.type, .mean_type = PROFILE_NONE, .edges = true});
        graph_sort(&calls.graph, report->options->cumulative ? GRAPH_CUM_NAME : GRAPH_FLAT_CUM_NAME);
        code = write(&calls, context, err);
        if (code == 0) code = check_sums(&calls, err);
        graph_free(&calls.graph);
    }
    profile_free(&calls.profile);
    return code;
}

/* Which kinds of profile are meant: every kind with stacks of functions, those without a diagnosis, that of CPU samples. */
enum kinds_wanted { KINDS_ALL, KINDS_UNDIAGNOSED, KINDS_CPU };

/* The kinds of the run that are wanted, the heap first. */
static int each_kind(struct doctor_report *report, enum kinds_wanted wanted, calls_writer *write, void *context,
                     struct error *err) {
    struct buffer kinds = {0};
    sqlite3_stmt *row = db_prepare(report->db, embedded_text("report/kinds.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", report->options->run_id);
    db_bind_int(row, ":all", wanted == KINDS_ALL);
    int code;
    while ((code = db_step(report->db, row, err)) == 1)
        buffer_add(&kinds, db_text(row, 0), strlen(db_text(row, 0)) + 1);
    for (const char *kind = buffer_text(&kinds); code == 0 && kinds.size && kind < kinds.data + kinds.size;
         kind += strlen(kind) + 1) {
        /* Peaks of several runs add up to nothing that ever was. */
        if (report->options->together && strcmp(kind, "heap-peak") == 0) continue;
        if (wanted == KINDS_CPU && strcmp(kind, "cpu") != 0) continue;
        code = with_kind(report, kind, write, context, err);
    }
    buffer_free(&kinds);
    return code;
}

/* ---- texts ---- */

static struct units_text value_text(const struct calls *calls, int64_t value) {
    const char *unit = calls->profile.types[calls->type].unit;
    if (strcmp(unit, "bytes") == 0) return units_bytes(value);
    if (strcmp(unit, "nanoseconds") == 0) return units_ns(value);
    return units_count(value);
}

static struct units_text percent_text(int64_t part, int64_t whole) {
    struct units_text text = {""};
    if (whole) snprintf(text.text, sizeof text.text, "%.0f %%", 100.0 * (double)part / (double)whole);
    return text;
}

static const char *type_heading(const struct calls *calls) {
    static const char *const headings[][2] = {
        {"cpu", "CPU time"}, {"delay", "waits"}, {"wall", "wall time"}, {"off_cpu", "time without a processor"}};
    const char *type = calls->profile.types[calls->type].type;
    if (strcmp(type, heap_by_type(calls->report->options->by)) == 0) return heap_by_heading(calls->report->options->by);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (strcmp(type, headings[i][0]) == 0) return headings[i][1];
    return type;
}

/* The name without the file, unless only the file is known. */
static const char *name_of(struct calls *calls, struct graph_node *node) {
    return *node->info.name ? node->info.name : graph_name(&calls->graph, node);
}

static const char *file_of(const struct graph_node *node) {
    return path_base(node->info.file);
}

/* What the figures leave of the terminal's width: they take up to 50 columns of a row. */
static int name_width(const struct calls *calls) {
    enum { FIGURES_WIDTH = 54, NAME_LEAST = 26 };
    int left = calls->report->width ? calls->report->width - FIGURES_WIDTH : NAME_WIDTH;
    return left > NAME_WIDTH ? NAME_WIDTH : left < NAME_LEAST ? NAME_LEAST : left;
}

static void add_name(const struct calls *calls, struct grid *grid, const char *full_name, const char *file) {
    int width = name_width(calls);
    struct buffer place = {0}, text = {0}, plain = {0};
    const char *name = shown_name(&calls->names, full_name, &plain);
    if (*file) buffer_printf(&place, "  (%s)", file);
    if (grid_width(buffer_text(&place), place.size) > width / 2) buffer_clear(&place);
    /* What tells it from another name may stand at its end. */
    if (!calls->names.is_full && !shown_name_is_usual(&calls->names, full_name) &&
        grid_width(name, strlen(name)) + grid_width(buffer_text(&place), place.size) > width)
        buffer_clear(&place);
    grid_visible(&text, name, width - grid_width(buffer_text(&place), place.size));
    buffer_add_text(&text, buffer_text(&place));
    grid_left(grid, buffer_text(&text));
    buffer_free(&place);
    buffer_free(&text);
    buffer_free(&plain);
}

enum own_line_column { OWN_FUNCTION, OWN_FILE, OWN_LINE, OWN_MODULE, OWN_LINES };

/* "parse_row (main.c:40)", or "parse_row:40" if `is_short`, and how many lines more call what is beside it. */
static void add_own_line(const struct calls *calls, struct buffer *out, sqlite3_stmt *own, bool is_short) {
    struct buffer plain = {0};
    const char *line = db_text(own, OWN_LINE), *function = db_text(own, OWN_FUNCTION);
    if (is_short) {
        short_name(&plain, function);
        grid_visible(out, buffer_text(&plain), name_width(calls) / 2);
    } else {
        buffer_add_text(out, shown_name(&calls->names, function, &plain));
    }
    if (sqlite3_column_int64(own, OWN_LINE))
        buffer_printf(out, "%s%s:%s%s", is_short ? "" : " (", is_short ? "" : path_base(db_text(own, OWN_FILE)), line,
                      is_short ? "" : ")");
    if (sqlite3_column_int64(own, OWN_LINES) > 1)
        buffer_printf(out, " and %lld more", (long long)sqlite3_column_int64(own, OWN_LINES) - 1);
    buffer_free(&plain);
}

/* "parse_row (main.c:40) in strlen [libc.so.6]"; where that is too long without the library, no file, and what is left of the name that ran. */
static void add_library_name(const struct calls *calls, struct grid *grid, const char *full_name, sqlite3_stmt *own) {
    struct buffer text = {0}, plain = {0}, shown = {0};
    const char *name = shown_name(&calls->names, full_name, &plain);
    int width = name_width(calls), name_size = grid_width(name, strlen(name)) + 4; /* " in " */
    add_own_line(calls, &text, own, false);
    if (grid_width(buffer_text(&text), text.size) + name_size > width) {
        buffer_clear(&text);
        add_own_line(calls, &text, own, true);
    }
    buffer_printf(&text, " in %s", name);
    int left = width - grid_width(buffer_text(&text), text.size), module = (int)strlen(db_text(own, OWN_MODULE));
    if (module && module + 3 <= left) buffer_printf(&text, " [%s]", db_text(own, OWN_MODULE));
    grid_visible(&shown, buffer_text(&text), width);
    grid_left(grid, buffer_text(&shown));
    buffer_free(&text);
    buffer_free(&plain);
    buffer_free(&shown);
}

/* The name of a function of CPU time: one that is not the program's own stands behind the line of its own code that calls it. */
static int add_function(struct calls *calls, struct grid *grid, struct graph_node *node, struct error *err) {
    int code = 0;
    sqlite3_stmt *own = NULL;
    if (strcmp(calls->kind, "cpu") == 0 && node->flat) {
        own = db_prepare(calls->report->db, embedded_text("report/own_line.sql"), err);
        if (!own) return -1;
        db_bind_int(own, ":run", calls->report->options->run_id);
        db_bind_text(own, ":function", node->info.name);
        db_bind_text(own, ":file", file_of(node));
        code = db_step(calls->report->db, own, err);
    }
    if (code == 1)
        add_library_name(calls, grid, name_of(calls, node), own);
    else if (code == 0)
        add_name(calls, grid, name_of(calls, node), file_of(node));
    if (own) sqlite3_reset(own);
    return code < 0 ? -1 : 0;
}

static int64_t limit(const struct doctor_options *options) {
    return options->top ? options->top : INT64_MAX;
}

static void print_more(const struct doctor_report *report, int64_t left) {
    if (left > 0) fprintf(report->out, "  and %s more (--top 0 shows all)\n", units_count(left).text);
}

/* ---- functions ---- */

/* Whether a function is a row of the table, apart from --top. */
static bool is_shown(struct calls *calls, struct graph_node *node) {
    return node->flat || !start_up_is_frame(name_of(calls, node));
}

/* Of the names of so many rows. */
static void tell_names_apart(struct calls *calls, int64_t most) {
    const char **names = xcalloc(calls->graph.node_count + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < calls->graph.node_count && (int64_t)count < most; i++)
        if (is_shown(calls, calls->graph.nodes[i])) names[count++] = name_of(calls, calls->graph.nodes[i]);
    shown_names_init(&calls->names, names, count, calls->report->options->full_names);
    free(names);
}

static void add_headings(struct grid *grid, const char *const *headings) {
    for (; *headings; headings++)
        grid_left(grid, *headings);
}

/* "63 %"; with how far that may be off in a column of its own where it is sampled. */
static void add_share(const struct calls *calls, struct grid *grid, int64_t value) {
    grid_right(grid, percent_text(value, calls->total).text);
    if (calls->sampling.variance > 0)
        grid_right(grid, sampling_scale_margin(&calls->sampling, (double)value, (double)calls->total).text);
}

/* CPU time that no sample met is a row of the table like a function: below it stands why, and how to get it. */
static int explain_unsampled(struct calls *calls, struct error *err) {
    int64_t unsampled = 0;
    for (size_t i = 0; i < calls->graph.node_count; i++)
        if (strcmp(calls->graph.nodes[i]->info.name, "[unsampled]") == 0)
            unsampled += graph_flat(calls->graph.nodes[i]);
    if (strcmp(calls->kind, "cpu") != 0 || calls->total <= 0 ||
        100.0 * (double)unsampled < UNSAMPLED_PERCENT * (double)calls->total)
        return 0;
    enum { PROCESSES, THREADS, PERIOD };
    sqlite3_stmt *row = db_prepare(calls->report->db, embedded_text("report/unsampled.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", calls->report->options->run_id);
    int code = db_step(calls->report->db, row, err);
    if (code < 0) return -1;
    int64_t threads = sqlite3_column_int64(row, THREADS);
    struct buffer text = {0};
    buffer_printf(&text, "[unsampled], %s: no sample met this CPU time.", percent_text(unsampled, calls->total).text);
    if (threads && sqlite3_column_int64(row, PERIOD) > 1)
        buffer_printf(&text, " %s in %s %s had %s of CPU time in the mean, and a sample comes after %s of one.",
                      units_things(threads, "thread").text, units_count(sqlite3_column_int64(row, PROCESSES)).text,
                      sqlite3_column_int64(row, PROCESSES) == 1 ? "process" : "processes",
                      units_ns(calls->total / threads).text, units_ns(sqlite3_column_int64(row, PERIOD)).text);
    buffer_add_text(
        &text,
        " A program into which nothing can be preloaded has none. clear profile --cpu=perf,999 samples both, by perf.");
    sqlite3_reset(row);
    wrap_print(calls->report->out, calls->report->width, "  ", buffer_text(&text));
    buffer_free(&text);
    return 0;
}

/* Threads that store to one place each, again and again, are slow where these lie in one cache line. Only hardware events tell whether they do, and a
 * recording has none: below the table stands how to get them. */
static int explain_shared_stores(struct calls *calls, struct error *err) {
    enum { NAME, FILENAME, LINE, CPU_NS, THREADS, HAS_LINES };
    if (strcmp(calls->kind, "cpu") != 0 || calls->total <= 0) return 0;
    sqlite3_stmt *row = db_prepare(calls->report->db, embedded_text("report/shared_stores.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", calls->report->options->run_id);
    int code = db_step(calls->report->db, row, err);
    if (code < 1) return code;
    int64_t ns = sqlite3_column_int64(row, CPU_NS), threads = sqlite3_column_int64(row, THREADS);
    bool is_told = threads > 1 && !sqlite3_column_int(row, HAS_LINES) &&
                   100.0 * (double)ns >= SHARED_STORES_PERCENT * (double)calls->total;
    if (is_told) {
        struct buffer text = {0};
        buffer_printf(&text, "%s", db_text(row, NAME));
        if (*db_text(row, FILENAME))
            buffer_printf(&text, " (%s:%d)", path_base(db_text(row, FILENAME)), sqlite3_column_int(row, LINE));
        buffer_printf(&text,
                      ", %s: %s store to one place each, again and again. Whether two of these places are in one cache "
                      "line (false "
                      "sharing) cannot be seen here: it takes hardware events. Where the processor counts them, perf "
                      "c2c record -o "
                      "c2c.data PROGRAM and clear ingest c2c.data name the line.",
                      percent_text(ns, calls->total).text, units_things(threads, "thread").text);
        wrap_print(calls->report->out, calls->report->width, "  ", buffer_text(&text));
        buffer_free(&text);
    }
    sqlite3_reset(row);
    return 0;
}

static int print_functions(struct calls *calls, void *context, struct error *err) {
    static const char *const exact[] = {"itself", "%", "with callees", "%", "function", NULL};
    static const char *const sampled[] = {"itself", "%", "± 95 %", "with callees", "%", "± 95 %", "function", NULL};
    struct doctor_report *report = calls->report;
    bool is_sampled = calls->sampling.variance > 0;
    struct grid grid = {.indent = "  ", .width = report->width, .columns = is_sampled ? 7 : 5};
    int64_t shown = 0, *kinds = context;
    int code = 0;
    if (!calls->graph.node_count) return 0;
    ++*kinds;
    tell_names_apart(calls, limit(report->options));
    add_headings(&grid, is_sampled ? sampled : exact);
    for (size_t i = 0; i < calls->graph.node_count && code == 0; i++) {
        struct graph_node *node = calls->graph.nodes[i];
        if (!is_shown(calls, node) || ++shown > limit(report->options)) continue;
        grid_right(&grid, value_text(calls, graph_flat(node)).text);
        add_share(calls, &grid, graph_flat(node));
        grid_right(&grid, value_text(calls, graph_cum(node)).text);
        add_share(calls, &grid, graph_cum(node));
        code = add_function(calls, &grid, node, err);
    }
    fprintf(report->out, "\n%s%s by function, %s%s%s\n", doctor_bold(report), calls->kind, type_heading(calls),
            report->options->cumulative ? ", with callees" : "", doctor_plain(report));
    grid_print(&grid, report->out, true);
    print_more(report, shown - limit(report->options));
    grid_free(&grid);
    shown_names_free(&calls->names);
    return code == 0 && explain_unsampled(calls, err) == 0 ? explain_shared_stores(calls, err) : -1;
}

int doctor_print_functions(struct doctor_report *report, struct error *err) {
    int64_t kinds = 0;
    if (each_kind(report, KINDS_ALL, print_functions, &kinds, err) < 0) return -1;
    if (!kinds) fputs("\nno stack matches\n", report->out);
    return 0;
}

int doctor_print_undiagnosed(struct doctor_report *report, bool cpu_only, struct error *err) {
    int64_t kinds = 0;
    return each_kind(report, cpu_only ? KINDS_CPU : KINDS_UNDIAGNOSED, print_functions, &kinds, err);
}

/* ---- peek ---- */

/* The value of the samples whose root this function is: it has no caller there. */
static int64_t root_value(const struct calls *calls, const struct graph_node *node) {
    const struct profile *profile = &calls->profile;
    int64_t value = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_stack *stack = &profile->stacks[profile->samples[i].stack];
        if (!stack->depth) continue;
        const struct profile_location *root = &profile->locations[profile->frames[stack->first + stack->depth - 1]];
        if (!root->line_count) continue;
        const struct profile_line *line = &profile->lines[root->first_line + root->line_count - 1];
        const struct profile_function *function = &profile->functions[line->function];
        if (strcmp(function->name, node->info.name) == 0 && strcmp(path_base(function->file), file_of(node)) == 0)
            value += profile_value(profile, i, calls->type);
    }
    return value;
}

/* Callers or callees of a node, the largest value first. */
struct neighbour {
    const char *name, *file;
    int64_t value;
};

static int largest_first(const void *left, const void *right) {
    const struct neighbour *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    return strcmp(a->name, b->name);
}

static struct neighbour *neighbours_of(struct calls *calls, struct graph_node *node, bool callers, size_t *count) {
    struct graph_edge **edges = graph_sort_edges(&calls->graph, node, callers, count);
    struct neighbour *found = xcalloc(*count + 1, sizeof *found);
    for (size_t i = 0; i < *count; i++) {
        struct graph_node *other = callers ? edges[i]->source : edges[i]->target;
        found[i] = (struct neighbour){name_of(calls, other), file_of(other), graph_weight(edges[i])};
    }
    int64_t root = callers ? root_value(calls, node) : 0;
    if (root) found[(*count)++] = (struct neighbour){"<root>", "", root};
    qsort(found, *count, sizeof *found, largest_first);
    free(edges);
    return found;
}

static void add_peek_row(const struct calls *calls, struct grid *grid, const char *role, int64_t value,
                         const struct graph_node *node, const char *name, const char *file) {
    grid_left(grid, role);
    grid_right(grid, value_text(calls, value).text);
    grid_right(grid, percent_text(value, graph_cum(node)).text);
    add_name(calls, grid, name, file);
}

static void add_neighbours(struct calls *calls, struct grid *grid, struct graph_node *node, bool callers) {
    size_t count;
    struct neighbour *all = neighbours_of(calls, node, callers, &count);
    int64_t top = limit(calls->report->options), rest = 0;
    for (size_t i = 0; i < count; i++)
        if ((int64_t)i < top)
            add_peek_row(calls, grid, callers ? "caller" : "callee", all[i].value, node, all[i].name, all[i].file);
        else
            sum_add(&rest, all[i].value, &calls->overflows); /* a recursion is in several edges */
    if ((int64_t)count > top) {
        struct buffer words = {0};
        buffer_printf(&words, "and %lld more (--top 0 shows all)", (long long)((int64_t)count - top));
        add_peek_row(calls, grid, callers ? "callers" : "callees", rest, node, buffer_text(&words), "");
        buffer_free(&words);
    }
    free(all);
}

static void print_peek(struct calls *calls, struct graph_node *node) {
    static const char *const headings[] = {"role", "value", "%", "function", NULL};
    struct doctor_report *report = calls->report;
    struct grid grid = {.indent = "  ", .width = report->width, .columns = 4};
    add_headings(&grid, headings);
    add_neighbours(calls, &grid, node, true);
    add_peek_row(calls, &grid, "self", graph_flat(node), node, name_of(calls, node), file_of(node));
    add_neighbours(calls, &grid, node, false);
    struct buffer name = {0};
    grid_visible(&name, name_of(calls, node), NAME_WIDTH);
    fprintf(report->out, "\n%s%s%s in %s, %s: %s of %s\n", doctor_bold(report), buffer_text(&name),
            doctor_plain(report), calls->kind, type_heading(calls), value_text(calls, graph_cum(node)).text,
            value_text(calls, calls->total).text);
    grid_print(&grid, report->out, true);
    buffer_free(&name);
    grid_free(&grid);
}

static bool is_peeked(struct calls *calls, struct graph_node *node) {
    return pattern_matches(calls->report->peek, name_of(calls, node));
}

static int print_peeks(struct calls *calls, void *context, struct error *err) {
    int64_t shown = 0, left = 0, *matched = context;
    graph_sort(&calls->graph, GRAPH_CUM_NAME);
    tell_names_apart(calls, INT64_MAX); /* any may be a caller or a callee */
    for (size_t i = 0; i < calls->graph.node_count; i++) {
        if (!is_peeked(calls, calls->graph.nodes[i])) continue;
        ++*matched;
        if (shown++ < limit(calls->report->options))
            print_peek(calls, calls->graph.nodes[i]);
        else
            left++;
    }
    shown_names_free(&calls->names);
    if (left)
        fprintf(calls->report->out, "\nand %s more matching functions of %s (--top 0 shows all)\n",
                units_count(left).text, calls->kind);
    return pattern_check(calls->report->peek, err);
}

int doctor_print_peek(struct doctor_report *report, struct error *err) {
    int64_t matched = 0;
    if (each_kind(report, KINDS_ALL, print_peeks, &matched, err) < 0) return -1;
    if (!matched) fprintf(report->out, "\nno function matches --peek=%s\n", report->options->peek);
    return 0;
}

/* ---- JSON ---- */

static void add_json_text(struct buffer *out, const char *key, const char *text) {
    buffer_printf(out, ",\"%s\":", key);
    buffer_add_json_string(out, text, strlen(text));
}

static void start_json(struct calls *calls, struct buffer *out, const char *section, struct graph_node *node) {
    buffer_printf(out, "{\"run_id\":%lld", (long long)calls->report->options->run_id);
    add_json_text(out, "section", section);
    add_json_text(out, "kind", calls->kind);
    add_json_text(out, "type", calls->profile.types[calls->type].type);
    add_json_text(out, "unit", calls->profile.types[calls->type].unit);
    add_json_text(out, "function", name_of(calls, node));
    add_json_text(out, "file", node->info.file);
    buffer_printf(out, ",\"flat\":%lld,\"cum\":%lld,\"total\":%lld", (long long)graph_flat(node),
                  (long long)graph_cum(node), (long long)calls->total);
    if (calls->sampling.variance > 0)
        buffer_printf(out, ",\"flat_error\":%.0f,\"cum_error\":%.0f",
                      sampling_scale_error(&calls->sampling, (double)graph_flat(node)),
                      sampling_scale_error(&calls->sampling, (double)graph_cum(node)));
}

static void end_json(const struct calls *calls, struct buffer *out, const char **separator) {
    fprintf(calls->report->out, "%s%s}", *separator, buffer_text(out));
    *separator = ",\n";
    buffer_free(out);
}

static int64_t json_limit(const struct doctor_options *options) {
    return options->has_top ? limit(options) : INT64_MAX;
}

static int print_functions_json(struct calls *calls, void *context, struct error *err) {
    (void)err;
    for (size_t i = 0; i < calls->graph.node_count && (int64_t)i < json_limit(calls->report->options); i++) {
        struct buffer out = {0};
        start_json(calls, &out, "function", calls->graph.nodes[i]);
        end_json(calls, &out, context);
    }
    return 0;
}

int doctor_print_functions_json(struct doctor_report *report, const char **separator, struct error *err) {
    return each_kind(report, KINDS_ALL, print_functions_json, separator, err);
}

static void add_json_neighbours(struct calls *calls, struct buffer *out, struct graph_node *node, bool callers) {
    size_t count;
    struct neighbour *all = neighbours_of(calls, node, callers, &count);
    buffer_printf(out, ",\"%s\":[", callers ? "callers" : "callees");
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s{\"value\":%lld", i ? "," : "", (long long)all[i].value);
        add_json_text(out, "function", all[i].name);
        buffer_add_char(out, '}');
    }
    buffer_add_char(out, ']');
    free(all);
}

static int print_peeks_json(struct calls *calls, void *context, struct error *err) {
    int64_t shown = 0;
    graph_sort(&calls->graph, GRAPH_CUM_NAME);
    for (size_t i = 0; i < calls->graph.node_count && shown < json_limit(calls->report->options); i++) {
        struct graph_node *node = calls->graph.nodes[i];
        struct buffer out = {0};
        if (!is_peeked(calls, node)) continue;
        start_json(calls, &out, "peek", node);
        add_json_neighbours(calls, &out, node, true);
        add_json_neighbours(calls, &out, node, false);
        end_json(calls, &out, context);
        shown++;
    }
    return pattern_check(calls->report->peek, err);
}

int doctor_print_peek_json(struct doctor_report *report, const char **separator, struct error *err) {
    return each_kind(report, KINDS_ALL, print_peeks_json, separator, err);
}
