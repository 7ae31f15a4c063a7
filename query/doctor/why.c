/* why.c: everything behind one finding: the rule that judged it, its thresholds and the figures that met them, the facts, and the SQL that shows
 * the rows. The rule is the text of the view of its code, doctor_SECTION_CODE, which the file carries. */
#include "query/doctor/findings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "schema/schema.h"

enum { STACKS_SHOWN = 20, OWN_COLUMNS = 8 }; /* OWN_COLUMNS: those that every diagnosis has stand first */

struct threshold {
    char *rule, *figure, *comparison; /* figure: a column of the finding's row, or NULL */
    const char *decides;              /* "code" or "severity" */
};

struct why {
    struct doctor_report *report;
    const struct finding *finding;
    struct buffer view, section_view; /* the views of its code and of its section; the next best where there is none */
    struct buffer rule, severity, false_positives;
    struct threshold *thresholds;
    size_t threshold_count;
    struct buffer names;  /* columns of the row of the view, each with its NUL */
    struct buffer values; /* the same for their values; of NULL "" */
    size_t columns;
    bool *is_number;
    struct buffer sql; /* statements, each with its NUL */
};

/* ---- the text of a view ---- */

static int view_text(struct why *why, const char *view, struct buffer *text, struct error *err) {
    sqlite3_stmt *row = db_prepare(why->report->db, embedded_text("report/why/view"), err);
    if (!row) return -1;
    db_bind_text(row, ":name", view);
    int code = db_step(why->report->db, row, err);
    if (code == 1) buffer_add_text(text, db_text(row, 0));
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* What stands in the comment behind "-- NAME", without its line ends; a line that begins another part ends it. */
static void comment_part(const char *text, const char *name, struct buffer *part) {
    const char *line = strstr(text, name);
    if (!line) return;
    for (line += strlen(name); *line;) {
        size_t size = strcspn(line, "\n");
        if (part->size) buffer_add_char(part, ' ');
        buffer_add(part, line, size);
        line += size;
        if (strncmp(line, "\n--   ", 6) != 0) break;
        line += strspn(line, "\n- ");
    }
}

/* Names of SQL that need no quotes; others are a stranger's. */
static bool is_plain(const char *name) {
    return !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

static void add_view_name(struct buffer *name, const char *section, const char *code) {
    buffer_printf(name, "doctor_%s%s%s", section, *code ? "_" : "", code);
    for (char *at = name->data; *at; at++)
        if (*at == '-') *at = '_';
}

/* ---- its row ---- */

/* SQL of a text: 'it''s'; a control character, which a terminal would obey, as char(27). */
static void add_sql_text(struct buffer *sql, const char *text) {
    buffer_add_char(sql, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buffer_add_text(sql, "''");
        else if ((unsigned char)*text < ' ' || *text == 127)
            buffer_printf(sql, "' || char(%d) || '", *text);
        else
            buffer_add_char(sql, *text);
    buffer_add_char(sql, '\'');
}

/* "SELECT * FROM doctor_lock_hot_long WHERE ...": the row of the finding; the text as it is stored, for `keep` changed the finding's. */
static int add_row_sql(struct why *why, const char *view, struct buffer *sql, struct error *err) {
    sqlite3_stmt *row = db_prepare(why->report->db, embedded_text("report/why/finding"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", why->report->options->run_id);
    db_bind_int(row, ":skipped", why->finding->number - 1);
    int code = db_step(why->report->db, row, err);
    if (code < 1) return code < 0 ? -1 : error_fail(err, "%s: the finding is gone", why->report->db->path);
    buffer_add_text(sql, "SELECT * FROM ");
    buffer_add_text(sql, view);
    buffer_add_text(sql, " WHERE run_id = ");
    buffer_printf(sql, "%lld", (long long)why->report->options->run_id);
    buffer_add_text(sql, " AND section = ");
    add_sql_text(sql, db_text(row, 0));
    buffer_add_text(sql, " AND code = ");
    add_sql_text(sql, db_text(row, 1));
    buffer_add_text(sql, " AND subject = ");
    add_sql_text(sql, db_text(row, 2));
    buffer_add_text(sql, " AND trace_ids = ");
    add_sql_text(sql, db_text(row, 3));
    sqlite3_reset(row);
    return 0;
}

static void keep_column(struct why *why, sqlite3_stmt *row, int column) {
    const char *name = sqlite3_column_name(row, column), *value = db_text(row, column);
    buffer_add(&why->names, name, strlen(name) + 1);
    buffer_add(&why->values, value, strlen(value) + 1);
    int type = sqlite3_column_type(row, column);
    why->is_number[why->columns++] = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* 1: the view has the finding, and its row is kept. */
static int read_row(struct why *why, const char *view, struct error *err) {
    struct buffer sql = {0};
    int code = add_row_sql(why, view, &sql, err);
    sqlite3_stmt *row = code == 0 ? db_prepare(why->report->db, buffer_text(&sql), err) : NULL;
    code = row ? db_step(why->report->db, row, err) : -1;
    if (code == 1) {
        int columns = sqlite3_column_count(row);
        why->is_number = xcalloc((size_t)columns + 1, sizeof *why->is_number);
        for (int i = 0; i < columns; i++)
            keep_column(why, row, i);
    }
    if (row) sqlite3_reset(row);
    if (code == 1) buffer_add(&why->sql, sql.data, sql.size + 1);
    buffer_free(&sql);
    return code;
}

/* The view of its code, of its section, or of all: a user's diagnosis stands in the last one. */
static int find_row(struct why *why, struct error *err) {
    struct buffer text = {0};
    add_view_name(&why->view, why->finding->section, why->finding->code);
    add_view_name(&why->section_view, why->finding->section, "");
    const char *const views[] = {why->view.data, why->section_view.data, "doctor"};
    int code = 0;
    for (size_t i = 0; i < 3 && code == 0; i++) {
        buffer_clear(&text);
        code = view_text(why, views[i], &text, err);
        if (code == 0 && text.size && is_plain(views[i]) && (code = read_row(why, views[i], err)) == 1 && i > 0) {
            buffer_clear(&why->view);
            buffer_add_text(&why->view, views[i]);
        }
    }
    buffer_free(&text);
    return code < 0 ? -1 : 0;
}

/* The rule, from the text of the view of the code; in the view of a section it stands in other words. */
static int read_texts(struct why *why, struct error *err) {
    struct buffer text = {0}, section_text = {0};
    int code = view_text(why, why->view.data, &text, err) || view_text(why, why->section_view.data, &section_text, err);
    if (code == 0 && strcmp(why->view.data, "doctor") != 0) {
        comment_part(buffer_text(&text), "-- Thresholds: ", &why->rule);
        if (!why->rule.size)
            comment_part(buffer_text(&text), "-- Thresholds (names are rows of the table rules):", &why->rule);
        comment_part(buffer_text(&text), "-- Known false positives: ", &why->false_positives);
        comment_part(buffer_text(&section_text), "-- Severity: ", &why->severity);
    }
    buffer_make_visible(&why->rule);
    buffer_make_visible(&why->false_positives);
    buffer_make_visible(&why->severity);
    buffer_free(&text);
    buffer_free(&section_text);
    return code ? -1 : 0;
}

static const char *nth(const struct buffer *texts, size_t number) {
    const char *text = buffer_text(texts);
    while (number--)
        text += strlen(text) + 1;
    return text;
}

/* The number of the row's column of that name; why->columns if there is none. */
static size_t column_of(const struct why *why, const char *name) {
    size_t column = 0;
    while (column < why->columns && strcmp(nth(&why->names, column), name) != 0)
        column++;
    return column;
}

/* ---- thresholds ---- */

static int is_rule(struct why *why, const char *name, struct error *err) {
    sqlite3_stmt *row = db_prepare(why->report->db, "SELECT 1 FROM rules WHERE name = :name", err);
    if (!row) return -1;
    db_bind_text(row, ":name", name);
    int code = db_step(why->report->db, row, err);
    sqlite3_reset(row);
    return code;
}

static bool is_comparison(const char *word) {
    return strcmp(word, ">=") == 0 || strcmp(word, ">") == 0 || strcmp(word, "<=") == 0 || strcmp(word, "<") == 0;
}

static void add_threshold(struct why *why, const char *decides, const char *rule, const char *figure,
                          const char *comparison) {
    for (size_t i = 0; i < why->threshold_count; i++)
        if (strcmp(why->thresholds[i].rule, rule) == 0) return;
    bool is_figure = is_comparison(comparison) && column_of(why, figure) < why->columns;
    why->thresholds = xrealloc(why->thresholds, (why->threshold_count + 1) * sizeof *why->thresholds);
    why->thresholds[why->threshold_count++] = (struct threshold){xstrdup(rule), is_figure ? xstrdup(figure) : NULL,
                                                                 xstrdup(is_figure ? comparison : ""), decides};
}

/* The rules that a text names: "contended_percent >= lock_contended_percent (20 %)" has a figure too. */
static int find_thresholds(struct why *why, const char *decides, const char *text, struct error *err) {
    char *words = xstrdup(text), *place = NULL;
    const char *before = "", *comparison = "";
    int code = 0;
    for (char *word = strtok_r(words, " ,;():\n", &place); word && code >= 0;
         word = strtok_r(NULL, " ,;():\n", &place)) {
        if (strchr(word, '_') && (code = is_rule(why, word, err)) == 1)
            add_threshold(why, decides, word, before, comparison);
        before = comparison;
        comparison = word;
    }
    free(words);
    return code < 0 ? -1 : 0;
}

/* 1: the figure meets the threshold; 0: it does not; -1: what is compared is not one figure. */
static int meets(const struct why *why, const struct threshold *threshold, double limit) {
    if (!threshold->figure) return -1;
    size_t column = column_of(why, threshold->figure);
    if (!why->is_number[column]) return -1;
    double value = strtod(nth(&why->values, column), NULL);
    if (strcmp(threshold->comparison, ">=") == 0) return value >= limit;
    if (strcmp(threshold->comparison, ">") == 0) return value > limit;
    return strcmp(threshold->comparison, "<=") == 0 ? value <= limit : value < limit;
}

/* ---- SQL ---- */

static int has_row(struct why *why, const char *sql, struct error *err) {
    sqlite3_stmt *row = db_prepare(why->report->db, sql, err);
    int code = row ? db_step(why->report->db, row, err) : -1;
    if (row) sqlite3_reset(row);
    return code;
}

/* "SELECT * FROM lock_facts WHERE run_id = 1 AND ...": the row of the table with the key that the finding's row has; nothing where it has
 * another key, or the table no such row. */
static int add_facts_sql(struct why *why, const char *table, struct error *err) {
    struct buffer sql = {0};
    const char *separator = " WHERE ";
    sqlite3_stmt *row = db_prepare(why->report->db, embedded_text("report/why/key"), err);
    if (!row) return -1;
    db_bind_text(row, ":table", table);
    buffer_add_text(&sql, "SELECT * FROM ");
    buffer_add_text(&sql, table);
    int code;
    bool has_all = true;
    while ((code = db_step(why->report->db, row, err)) == 1) {
        size_t column = column_of(why, db_text(row, 0));
        has_all &= column < why->columns;
        if (!has_all) continue;
        buffer_printf(&sql, "%s%s = ", separator, db_text(row, 0));
        if (why->is_number[column])
            buffer_add_text(&sql, nth(&why->values, column));
        else
            add_sql_text(&sql, nth(&why->values, column));
        separator = " AND ";
    }
    if (code == 0 && has_all && (code = has_row(why, buffer_text(&sql), err)) == 1)
        buffer_add(&why->sql, sql.data, sql.size + 1);
    buffer_free(&sql);
    return code < 0 ? -1 : 0;
}

static int add_all_facts_sql(struct why *why, struct error *err) {
    struct buffer tables = {0};
    sqlite3_stmt *row = db_prepare(why->report->db, embedded_text("report/why/facts"), err);
    if (!row) return -1;
    db_bind_text(row, ":view", why->section_view.data);
    int code;
    while ((code = db_step(why->report->db, row, err)) == 1)
        buffer_add(&tables, db_text(row, 0), strlen(db_text(row, 0)) + 1);
    for (const char *table = buffer_text(&tables); code == 0 && tables.size && table < tables.data + tables.size;
         table += strlen(table) + 1)
        code = add_facts_sql(why, table, err);
    buffer_free(&tables);
    return code;
}

static void add_rules_sql(struct why *why) {
    struct buffer sql = {0};
    if (!why->threshold_count) return;
    buffer_add_text(&sql, "SELECT * FROM rules WHERE name IN (");
    for (size_t i = 0; i < why->threshold_count; i++) {
        if (i) buffer_add_text(&sql, ", ");
        add_sql_text(&sql, why->thresholds[i].rule);
    }
    buffer_add_char(&sql, ')');
    buffer_add(&why->sql, sql.data, sql.size + 1);
    buffer_free(&sql);
}

static int add_stacks_sql(struct why *why, struct error *err) {
    struct buffer sql = {0};
    sqlite3_stmt *row = db_prepare(why->report->db, "SELECT value FROM json_each(:ids) WHERE value > 0", err);
    if (!row) return -1;
    db_bind_text(row, ":ids", why->finding->trace_ids);
    int code, count = 0;
    while ((code = db_step(why->report->db, row, err)) == 1)
        if (count++ < STACKS_SHOWN)
            buffer_printf(&sql, "%s%lld", sql.size ? ", " : "", (long long)sqlite3_column_int64(row, 0));
    if (code == 0 && sql.size) {
        struct buffer whole = {0};
        buffer_add_text(&whole, "SELECT trace_id, depth, function, file, line FROM frames WHERE trace_id IN (");
        buffer_add_text(&whole, sql.data);
        buffer_add_text(&whole, ") ORDER BY trace_id, depth");
        buffer_add(&why->sql, whole.data, whole.size + 1);
        buffer_free(&whole);
    }
    buffer_free(&sql);
    return code;
}

/* ---- text ---- */

static struct units_text in_unit_of(const char *name, const char *value) {
    struct units_text text;
    size_t size = strlen(name);
    int64_t number = strtoll(value, NULL, 10);
    if (size > 3 && strcmp(name + size - 3, "_ns") == 0) return units_ns(number);
    if (strchr(value, '.') || strchr(value, 'e')) {
        snprintf(text.text, sizeof text.text, "%s", value);
        return text;
    }
    if (size > 6 && strcmp(name + size - 6, "_bytes") == 0) return units_bytes(number);
    if (size > 8 && strcmp(name + size - 8, "_percent") == 0) {
        snprintf(text.text, sizeof text.text, "%s %%", value);
        return text;
    }
    return units_count(number);
}

static void add_value(const struct why *why, struct grid *grid, size_t column) {
    const char *name = nth(&why->names, column), *value = nth(&why->values, column);
    bool is_id = strlen(name) > 3 && strcmp(name + strlen(name) - 3, "_id") == 0;
    grid_right(grid, why->is_number[column] && !is_id && strcmp(name, "address") != 0 && strcmp(name, "line") != 0
                         ? in_unit_of(name, value).text
                         : value);
}

static int add_threshold_row(struct why *why, struct grid *grid, const struct threshold *threshold, struct error *err) {
    sqlite3_stmt *row = db_prepare(why->report->db, embedded_text("report/why/rule"), err);
    if (!row) return -1;
    db_bind_text(row, ":name", threshold->rule);
    int code = db_step(why->report->db, row, err);
    if (code < 1) return code;
    static const char *const words[] = {"", "no", "yes"};
    grid_left(grid, threshold->rule);
    grid_left(grid, threshold->decides);
    grid_right(grid, in_unit_of(threshold->rule, db_text(row, 0)).text);
    grid_left(grid, threshold->figure ? threshold->figure : "");
    if (threshold->figure)
        add_value(why, grid, column_of(why, threshold->figure));
    else
        grid_right(grid, "");
    grid_left(grid, words[meets(why, threshold, sqlite3_column_double(row, 1)) + 1]);
    sqlite3_reset(row);
    return 0;
}

static void print_part(const struct why *why, const char *heading, const struct buffer *text) {
    struct buffer line = {0};
    if (!text->size) return;
    buffer_printf(&line, "%s%s", heading, text->data);
    wrap_print(why->report->out, why->report->width, "  ", line.data);
    buffer_free(&line);
}

static int print_rule(struct why *why, struct error *err) {
    static const char *const headings[] = {"threshold", "for the", "value", "figure", "here", "met"};
    enum { COLUMNS = sizeof headings / sizeof *headings };
    struct grid grid = {.indent = "  ", .width = why->report->width, .columns = COLUMNS};
    int code = 0;
    fprintf(why->report->out, "\n%srule%s (%s)\n", doctor_bold(why->report), doctor_plain(why->report), why->view.data);
    print_part(why, "", &why->rule);
    for (size_t i = 0; i < COLUMNS; i++)
        grid_left(&grid, headings[i]);
    for (size_t i = 0; i < why->threshold_count && code == 0; i++)
        code = add_threshold_row(why, &grid, &why->thresholds[i], err);
    if (code == 0 && why->threshold_count) {
        fputc('\n', why->report->out);
        grid_print(&grid, why->report->out, true);
        fputc('\n', why->report->out);
    }
    grid_free(&grid);
    print_part(why, "Severity: ", &why->severity);
    print_part(why, "Known false positives: ", &why->false_positives);
    return code;
}

/* Columns of its row behind those that every diagnosis has; of a user's diagnosis in the view `doctor` the evidence. */
static void print_facts(const struct why *why) {
    struct grid grid = {.indent = "  ", .columns = 2};
    fprintf(why->report->out, "\n%sfacts%s\n", doctor_bold(why->report), doctor_plain(why->report));
    for (size_t i = OWN_COLUMNS; i < why->columns; i++) {
        if (!*nth(&why->values, i)) continue;
        grid_left(&grid, nth(&why->names, i));
        add_value(why, &grid, i);
    }
    grid_print(&grid, why->report->out, false);
    grid_free(&grid);
    if (why->columns <= OWN_COLUMNS) fprintf(why->report->out, "  evidence %s\n", why->finding->evidence);
}

/* The statements run as they are printed, in any SQLite shell. */
static void print_sql(const struct why *why) {
    const struct db *db = why->report->db;
    struct buffer file = {0};
    escape_shell(&file, db->path);
    if (db->is_private || db->source)
        fprintf(why->report->out, "\n%sSQL%s, once the run is in a file (clear ingest, clear pull)\n",
                doctor_bold(why->report), doctor_plain(why->report));
    else
        fprintf(why->report->out, "\n%sSQL%s for sqlite3 %s\n", doctor_bold(why->report), doctor_plain(why->report),
                buffer_text(&file));
    for (const char *sql = why->sql.data; sql && sql < why->sql.data + why->sql.size; sql += strlen(sql) + 1)
        fprintf(why->report->out, "  %s;\n", sql);
    buffer_free(&file);
}

static int print_text(struct why *why, struct error *err) {
    const struct finding *finding = why->finding;
    if (doctor_print_finding(why->report, finding, err) < 0) return -1;
    wrap_print(why->report->out, why->report->width, "  ", finding->title);
    if (print_rule(why, err) < 0) return -1;
    print_facts(why);
    print_sql(why);
    return 0;
}

/* ---- JSON ---- */

static void add_field(struct buffer *out, const char *key, const struct buffer *text) {
    buffer_add_char(out, ',');
    buffer_add_json_field(out, key, buffer_text(text));
}

static int add_json_threshold(struct why *why, struct buffer *out, const struct threshold *threshold,
                              struct error *err) {
    sqlite3_stmt *row = db_prepare(why->report->db, embedded_text("report/why/rule"), err);
    if (!row) return -1;
    db_bind_text(row, ":name", threshold->rule);
    int code = db_step(why->report->db, row, err);
    if (code < 1) return code;
    buffer_add_text(out, out->data[out->size - 1] == '[' ? "{" : ",{");
    buffer_add_json_field(out, "name", threshold->rule);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "decides", threshold->decides);
    buffer_printf(out, ",\"value\":%s,", db_text(row, 1));
    buffer_add_json_field(out, "unit", db_text(row, 2));
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "meaning", db_text(row, 3));
    if (threshold->figure) {
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "figure", threshold->figure);
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "comparison", threshold->comparison);
    }
    int met = meets(why, threshold, sqlite3_column_double(row, 1));
    if (met >= 0) buffer_printf(out, ",\"met\":%s", met ? "true" : "false");
    buffer_add_char(out, '}');
    sqlite3_reset(row);
    return 0;
}

static void add_json_facts(const struct why *why, struct buffer *out) {
    buffer_add_text(out, ",\"facts\":{");
    for (size_t i = OWN_COLUMNS; i < why->columns; i++) {
        if (i > OWN_COLUMNS) buffer_add_char(out, ',');
        buffer_add_json_text(out, nth(&why->names, i));
        buffer_add_char(out, ':');
        if (why->is_number[i])
            buffer_add_text(out, nth(&why->values, i));
        else if (*nth(&why->values, i))
            buffer_add_json_text(out, nth(&why->values, i));
        else
            buffer_add_text(out, "null");
    }
    buffer_add_char(out, '}');
}

static int print_json(struct why *why, struct error *err) {
    const struct finding *finding = why->finding;
    struct buffer out = {0};
    int code = 0;
    buffer_printf(&out, "{\"run_id\":%lld,\"number\":%lld,", (long long)why->report->options->run_id,
                  (long long)finding->number);
    const char *const fields[][2] = {{"section", finding->section},   {"code", finding->code},
                                     {"severity", finding->severity}, {"subject", finding->subject},
                                     {"title", finding->title},       {"view", why->view.data}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (i) buffer_add_char(&out, ',');
        buffer_add_json_field(&out, fields[i][0], fields[i][1]);
    }
    add_field(&out, "rule", &why->rule);
    add_field(&out, "severity_rule", &why->severity);
    add_field(&out, "known_false_positives", &why->false_positives);
    buffer_add_text(&out, ",\"thresholds\":[");
    for (size_t i = 0; i < why->threshold_count && code == 0; i++)
        code = add_json_threshold(why, &out, &why->thresholds[i], err);
    buffer_add_char(&out, ']');
    add_json_facts(why, &out);
    buffer_printf(&out, ",\"evidence\":%s,\"trace_ids\":%s,\"sql\":[", finding->evidence, finding->trace_ids);
    for (const char *sql = why->sql.data; sql && sql < why->sql.data + why->sql.size; sql += strlen(sql) + 1) {
        if (sql != why->sql.data) buffer_add_char(&out, ',');
        buffer_add_json_text(&out, sql);
    }
    if (code == 0) fprintf(why->report->out, "%s]}\n", out.data);
    buffer_free(&out);
    return code;
}

/* ---- one finding ---- */

static const struct finding *numbered(const struct doctor_report *report, int64_t number) {
    for (size_t i = 0; i < report->count; i++)
        if (report->findings[i].number == number) return &report->findings[i];
    return NULL;
}

static int gather(struct why *why, struct error *err) {
    if (find_row(why, err) || read_texts(why, err)) return -1;
    if (find_thresholds(why, "code", buffer_text(&why->rule), err) ||
        find_thresholds(why, "severity", buffer_text(&why->severity), err))
        return -1;
    if (add_all_facts_sql(why, err)) return -1;
    add_rules_sql(why);
    return add_stacks_sql(why, err);
}

static void why_free(struct why *why) {
    struct buffer *const buffers[] = {
        &why->view,  &why->section_view, &why->rule, &why->severity, &why->false_positives,
        &why->names, &why->values,       &why->sql};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        buffer_free(buffers[i]);
    for (size_t i = 0; i < why->threshold_count; i++) {
        free(why->thresholds[i].rule);
        free(why->thresholds[i].figure);
        free(why->thresholds[i].comparison);
    }
    free(why->thresholds);
    free(why->is_number);
}

static int explain(struct doctor_report *report, int (*print)(struct why *why, struct error *err), struct error *err) {
    if (doctor_load(report, err) < 0) return -1;
    struct why why = {.report = report, .finding = numbered(report, report->options->why)};
    if (!report->count) return error_usage(err, "--why: the run has no findings");
    if (!why.finding)
        return error_usage(err, "--why %" PRId64 ": the run has the findings 1 to %zu", report->options->why,
                           report->count);
    db_limit(report->db, DOCTOR_LOAD_NS);
    int code = gather(&why, err) || print(&why, err) ? -1 : 0;
    db_unlimit(report->db);
    why_free(&why);
    return code;
}

int doctor_print_why(struct doctor_report *report, struct error *err) {
    return explain(report, print_text, err);
}

int doctor_print_why_json(struct doctor_report *report, struct error *err) {
    return explain(report, print_json, err);
}
