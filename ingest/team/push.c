#include "ingest/team/push.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "ingest/read/warehouse/run_order.h"
#include "ingest/record/live_recordings.h"
#include "ingest/record/lost.h"
#include "ingest/team/copy_text.h"
#include "schema/schema.h"

void push_begin(struct push *push, struct team *team, struct db *db) {
    *push = (struct push){.team = team, .db = db, .names = {.db = db}, .swept = -1};
}

/* A matter of speed alone: what fails here is done by the next push. A store of an earlier clear may lack the function. */
static void analyze(struct push *push) {
    struct team_server *server = &push->team->server;
    struct error ignored = {0};
    struct team_answer answer;
    if (team_ask(server,
                 "SELECT to_regprocedure('clear.analyze_grown()') IS NOT NULL,"
                 " to_regprocedure('pg_stat_force_next_flush()') IS NOT NULL",
                 NULL, 0, &answer, &ignored))
        return;
    bool is_there = answer.rows && *team_word(&answer, 0, 0) == 't';
    bool counts_late =
        answer.rows && *team_word(&answer, 0, 1) == 't'; /* PostgreSQL 15: rows are counted once a second */
    team_answer_free(&answer);
    if (is_there && counts_late) (void)team_run(server, "SELECT pg_stat_force_next_flush()", &ignored);
    if (is_there) (void)team_run(server, "SELECT clear.analyze_grown()", &ignored);
}

void push_end(struct push *push) {
    if (push->has_stored) analyze(push);
    run_uses_free(&push->uses);
    push_names_free(&push->names);
}

/* What is being pushed. */
struct pushing {
    struct push *push;
    int64_t run_id;
    char *uuid, *content_hash; /* content_hash: NULL of a recorded run */
    struct team_month month;
    struct map places[SOURCE_NAMES]; /* id of an object, stack or label set -> its place, from 1 */
    struct buffer keys[SOURCE_NAMES];
    struct buffer rows;
    struct buffer figures, findings,
        finding_counts; /* rows that are made before the transaction, for that may take minutes */
    bool is_wanting;    /* the store has the run, and lacks names of it: only these are sent */
};

static void pushing_free(struct pushing *pushing) {
    for (int i = 0; i < SOURCE_NAMES; i++) {
        map_free(&pushing->places[i]);
        buffer_free(&pushing->keys[i]);
    }
    buffer_free(&pushing->rows);
    buffer_free(&pushing->figures);
    buffer_free(&pushing->findings);
    buffer_free(&pushing->finding_counts);
    free(pushing->uuid);
    free(pushing->content_hash);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static int read_run(struct pushing *pushing, bool *is_unfinished, struct error *err) {
    struct db *db = pushing->push->db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("team/push/run"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", pushing->run_id);
    int code = db_step(db, row, err);
    if (code != 1) return code ? -1 : error_fail(err, "%s: run %" PRId64 " is gone", db->path, pushing->run_id);
    pushing->uuid = xstrdup(db_text(row, 0));
    if (sqlite3_column_type(row, 1) != SQLITE_NULL) pushing->content_hash = xstrdup(db_text(row, 1));
    pushing->month = team_month(sqlite3_column_int64(row, 2));
    *is_unfinished = sqlite3_column_int(row, 3);
    sqlite3_reset(row);
    /* A store keeps uuids as such: of one that is written in another way it would not give back the same text. */
    if (team_is_uuid(pushing->uuid)) return 0;
    return error_fail(err, "%s: is damaged: run %" PRId64 " has no uuid: '%.40s'", db->path, pushing->run_id,
                      pushing->uuid);
}

static int find_known(struct pushing *pushing, bool *is_known, struct error *err) {
    struct team *team = pushing->push->team;
    struct buffer hash = {0};
    struct team_answer answer;
    if (pushing->content_hash) store_text_add(&hash, pushing->content_hash);
    const char *values[] = {team->project_number, pushing->month.text, pushing->uuid,
                            pushing->content_hash ? buffer_text(&hash) : NULL};
    int code = team_ask(&team->server, embedded_text("team/push/known"), values, 4, &answer, err);
    if (code == 0) *is_known = answer.rows > 0;
    if (code == 0 && answer.rows) pushing->is_wanting = *team_word(&answer, 0, 0) == 't';
    team_answer_free(&answer);
    buffer_free(&hash);
    return code;
}

/* ---- names that it uses ------------------------------------------------------------------------------------------ */

static int use_thing(struct pushing *pushing, enum source_name thing, struct error *err) {
    struct buffer ids = {0};
    int code = run_order_read(pushing->push->db, &pushing->push->uses, thing, pushing->run_id, &ids, err);
    const int64_t *items = (const int64_t *)(const void *)ids.data;
    for (size_t i = 0; code == 0 && i < ids.size / sizeof *items; i++) {
        int64_t key = 0;
        code = push_names_key(&pushing->push->names, thing, items[i], &key, err);
        map_put(&pushing->places[thing], &items[i], sizeof items[i], NULL)->value = (int64_t)i + 1;
        buffer_add(&pushing->keys[thing], &key, sizeof key);
    }
    buffer_free(&ids);
    return code;
}

static int use_names(struct pushing *pushing, struct error *err) {
    return run_order_want(pushing->push->db, pushing->run_id, err) || use_thing(pushing, SOURCE_OBJECT, err) ||
                   use_thing(pushing, SOURCE_TRACE, err) || use_thing(pushing, SOURCE_LABEL_SET, err)
               ? -1
               : 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void begin_row(struct pushing *pushing, int64_t place) {
    buffer_printf(&pushing->rows, "%s\t%s\t%s", pushing->push->team->project_number, pushing->month.text,
                  pushing->uuid);
    if (!place) return;
    copy_tab(&pushing->rows);
    copy_int(&pushing->rows, place);
}

static int send(struct pushing *pushing, const char *sql, struct error *err) {
    if (pushing->is_wanting) buffer_clear(&pushing->rows);
    if (!pushing->rows.size) return 0;
    pushing->push->bytes += (int64_t)pushing->rows.size;
    int code = team_copy(&pushing->push->team->server, sql, &pushing->rows, err);
    buffer_clear(&pushing->rows);
    return code;
}

static int send_table(struct pushing *pushing, const struct layout_table *table, struct error *err) {
    struct buffer sql = {0};
    layout_add_copy(&sql, table);
    int code = send(pushing, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

static int add_mappings(struct pushing *pushing, const char *json, struct error *err) {
    struct buffer keys = {0};
    const char *at = integers_first(json);
    int64_t id, key;
    while (at && *at != ']') {
        at = integers_next(at, &id);
        if (!at) break;
        if (push_names_key(&pushing->push->names, SOURCE_MAPPING, id, &key, err)) {
            buffer_free(&keys);
            return -1;
        }
        array_int(&keys, key);
    }
    copy_array(&pushing->rows, &keys);
    buffer_free(&keys);
    return integers_ended(at) ? 0 : error_fail(err, "%s: is damaged: profiles.mappings", pushing->push->db->path);
}

static void add_value(struct buffer *rows, enum layout_type type, sqlite3_stmt *row, int column) {
    if (type == LAYOUT_INT) copy_int(rows, sqlite3_column_int64(row, column));
    if (type == LAYOUT_REAL) copy_real(rows, sqlite3_column_double(row, column));
    if (type == LAYOUT_TEXT) copy_text(rows, db_text(row, column));
}

static int add_field(struct pushing *pushing, const struct layout_column *column, sqlite3_stmt *row, int at,
                     struct error *err) {
    int64_t key;
    copy_tab(&pushing->rows);
    if (sqlite3_column_type(row, at) == SQLITE_NULL) {
        copy_null(&pushing->rows);
        return 0;
    }
    if (column->role.role == COPY_MAPPINGS) return add_mappings(pushing, db_text(row, at), err);
    if (column->role.role != COPY_NAME) {
        add_value(&pushing->rows, column->type, row, at);
        return 0;
    }
    if (push_names_key(&pushing->push->names, column->role.target, sqlite3_column_int64(row, at), &key, err)) return -1;
    copy_int(&pushing->rows, key);
    return 0;
}

static int add_row(struct pushing *pushing, const struct layout_table *table, sqlite3_stmt *row, int64_t place,
                   struct error *err) {
    begin_row(pushing, place);
    for (int i = 0; i < table->column_count; i++)
        if (!table->columns[i].is_left_out && add_field(pushing, &table->columns[i], row, i, err)) return -1;
    copy_end(&pushing->rows);
    return 0;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

enum { LIST_COLUMNS_MAX = 32 };

struct list {
    int64_t owner;   /* the profile or process of the rows; 0: they are of the run */
    int64_t place;   /* of its row in the store; 0: none yet */
    int64_t count;   /* of elements */
    bool is_counted; /* the stacks are 1, 2, 3, ...: NULL in the store, a fifth of what it takes */
    struct buffer columns[LIST_COLUMNS_MAX];
};

static void end_list(struct pushing *pushing, const struct layout_table *table, struct list *list) {
    if (!list->place) return;
    begin_row(pushing, list->place);
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_left_out) continue;
        copy_tab(&pushing->rows);
        if (i == table->owner)
            copy_int(&pushing->rows, list->owner);
        else if (list->is_counted && layout_may_be_counted(&table->columns[i]))
            copy_null(&pushing->rows);
        else
            copy_array(&pushing->rows, &list->columns[i]);
        buffer_clear(&list->columns[i]);
    }
    copy_end(&pushing->rows);
}

/* `id`: of a name. */
static int add_place(struct pushing *pushing, const struct layout_column *column, int64_t id, int at, struct list *list,
                     struct error *err) {
    const struct map_entry *place = map_find(&pushing->places[column->role.target], &id, sizeof id);
    if (id && !place) return error_fail(err, "%s: is damaged: a name of no run", pushing->push->db->path);
    int64_t stored = id ? place->value : 0;
    list->is_counted &= stored == list->count || !layout_may_be_counted(column);
    array_int(&list->columns[at], stored);
    return 0;
}

static int add_key(struct pushing *pushing, const struct layout_column *column, int64_t id, struct buffer *array,
                   struct error *err) {
    int64_t key;
    if (push_names_key(&pushing->push->names, column->role.target, id, &key, err)) return -1;
    array_int(array, key);
    return 0;
}

static int add_element(struct pushing *pushing, const struct layout_table *table, sqlite3_stmt *row, int at,
                       struct list *list, struct error *err) {
    const struct layout_column *column = &table->columns[at];
    struct buffer *array = &list->columns[at];
    int64_t value = sqlite3_column_int64(row, at);
    if (sqlite3_column_type(row, at) == SQLITE_NULL) {
        list->is_counted &= !layout_may_be_counted(column);
        array_null(array);
    } else if (layout_has_places(table, column)) {
        return add_place(pushing, column, value, at, list, err);
    } else if (column->role.role == COPY_NAME) {
        return add_key(pushing, column, value, array, err);
    } else if (column->type == LAYOUT_TEXT) {
        array_text(array, db_text(row, at));
    } else {
        array_int(array, value);
    }
    return 0;
}

static int add_to_list(struct pushing *pushing, const struct layout_table *table, sqlite3_stmt *row, struct list *list,
                       struct error *err) {
    int64_t owner = table->owner == LAYOUT_OF_RUN ? 0 : sqlite3_column_int64(row, table->owner);
    if (!list->place || owner != list->owner) {
        end_list(pushing, table, list);
        list->owner = owner;
        list->place++;
        list->count = 0;
        list->is_counted = true;
    }
    list->count++;
    for (int i = 0; i < table->column_count; i++)
        if (!table->columns[i].is_left_out && i != table->owner && add_element(pushing, table, row, i, list, err))
            return -1;
    return 0;
}

/* ---- a table ----------------------------------------------------------------------------------------------------- */

static int read_rows(struct pushing *pushing, const struct layout_table *table, struct list *list, struct error *err) {
    struct db *db = pushing->push->db;
    sqlite3_stmt *row = db_prepare(db, table->select, err);
    if (!row) return -1;
    db_bind_int(row, ":run", pushing->run_id);
    int64_t place = 0;
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        int failed =
            table->is_list ? add_to_list(pushing, table, row, list, err) : add_row(pushing, table, row, ++place, err);
        if (failed) {
            sqlite3_reset(row);
            return -1;
        }
    }
    if (code == 0) end_list(pushing, table, list);
    return code;
}

static int push_table(struct pushing *pushing, const struct layout_table *table, struct error *err) {
    struct list list = {0};
    if (table->column_count > LIST_COLUMNS_MAX) bug("table %s has more columns than a list", table->name);
    int code = read_rows(pushing, table, &list, err);
    for (int i = 0; i < LIST_COLUMNS_MAX; i++)
        buffer_free(&list.columns[i]);
    return code ? -1 : send_table(pushing, table, err);
}

/* ---- what the file's views say ----------------------------------------------------------------------------------- */

static void add_view_row(struct pushing *pushing, sqlite3_stmt *row, int64_t place) {
    begin_row(pushing, place);
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        copy_tab(&pushing->rows);
        if (sqlite3_column_type(row, i) == SQLITE_NULL)
            copy_null(&pushing->rows);
        else
            copy_text(&pushing->rows, db_text(row, i));
    }
    copy_end(&pushing->rows);
}

static void move(struct buffer *from, struct buffer *into) {
    buffer_free(into);
    *into = *from;
    *from = (struct buffer){0};
}

static int send_made(struct pushing *pushing, struct buffer *rows, const char *sql, struct error *err) {
    move(rows, &pushing->rows);
    return send(pushing, sql, err);
}

static int make_figures(struct pushing *pushing, struct error *err) {
    struct db *db = pushing->push->db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("team/figures.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", pushing->run_id);
    int64_t place = 0;
    int code;
    while ((code = db_step(db, row, err)) == 1)
        add_view_row(pushing, row, ++place);
    move(&pushing->rows, &pushing->figures);
    return code;
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* Of one code a run may have as many findings as it has sites: 1.2 MB a run of 2,000. */
enum { FINDINGS_KEPT = 100, NOTES_KEPT = 10 };

struct finding_count {
    char *section, *code, *severity;
    int64_t count, kept;
};

struct finding_counts {
    struct finding_count *items;
    size_t count;
};

static struct finding_count *count_of(struct finding_counts *counts, sqlite3_stmt *row) {
    const char *section = db_text(row, 0), *code = db_text(row, 1), *severity = db_text(row, 2);
    for (size_t i = 0; i < counts->count; i++) {
        struct finding_count *item = &counts->items[i];
        if (strcmp(item->code, code) == 0 && strcmp(item->section, section) == 0 &&
            strcmp(item->severity, severity) == 0)
            return item;
    }
    counts->items = xrealloc(counts->items, (counts->count + 1) * sizeof *counts->items);
    struct finding_count *item = &counts->items[counts->count++];
    *item = (struct finding_count){xstrdup(section), xstrdup(code), xstrdup(severity)};
    return item;
}

static bool is_kept(struct finding_count *item) {
    bool is_serious = strcmp(item->severity, "critical") == 0 || strcmp(item->severity, "warning") == 0;
    item->count++;
    if (item->kept == (is_serious ? FINDINGS_KEPT : NOTES_KEPT)) return false;
    item->kept++;
    return true;
}

static int read_findings(struct pushing *pushing, struct finding_counts *counts, struct error *err) {
    struct db *db = pushing->push->db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("team/push/findings"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", pushing->run_id);
    int64_t place = 0;
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        place++;
        if (is_kept(count_of(counts, row))) add_view_row(pushing, row, place);
    }
    return code;
}

static void add_counts(struct pushing *pushing, const struct finding_counts *counts) {
    for (size_t i = 0; i < counts->count; i++) {
        const struct finding_count *item = &counts->items[i];
        begin_row(pushing, (int64_t)i + 1);
        const char *const texts[] = {item->section, item->code, item->severity};
        for (int j = 0; j < 3; j++) {
            copy_tab(&pushing->rows);
            copy_text(&pushing->rows, texts[j]);
        }
        copy_tab(&pushing->rows);
        copy_int(&pushing->rows, item->count);
        copy_tab(&pushing->rows);
        copy_int(&pushing->rows, item->kept);
        copy_end(&pushing->rows);
    }
}

static int make_findings(struct pushing *pushing, struct error *err) {
    struct finding_counts counts = {0};
    int code = read_findings(pushing, &counts, err);
    move(&pushing->rows, &pushing->findings);
    add_counts(pushing, &counts);
    move(&pushing->rows, &pushing->finding_counts);
    for (size_t i = 0; i < counts.count; i++) {
        free(counts.items[i].section);
        free(counts.items[i].code);
        free(counts.items[i].severity);
    }
    free(counts.items);
    return code;
}

/* ---- the transaction --------------------------------------------------------------------------------------------- */

/* The run's first row, and what makes two who push the same run wait for each other: false if the other was first. */
static int claim(struct pushing *pushing, bool *is_known, struct error *err) {
    static const enum source_name things[] = {SOURCE_TRACE, SOURCE_LABEL_SET, SOURCE_OBJECT};
    struct team *team = pushing->push->team;
    const char *values[6] = {team->project_number, pushing->month.text, pushing->uuid};
    struct buffer lists[3] = {{0}};
    int64_t inserted = 0;
    for (int i = 0; i < 3; i++) {
        const struct buffer *keys = &pushing->keys[things[i]];
        copy_ints(&lists[i], (const int64_t *)(const void *)keys->data, keys->size / sizeof(int64_t));
        values[3 + i] = buffer_text(&lists[i]);
        pushing->push->bytes += (int64_t)lists[i].size;
    }
    int code = team_change(&team->server, embedded_text("team/push/claim"), values, 6, &inserted, err);
    *is_known = inserted == 0;
    for (int i = 0; i < 3; i++)
        buffer_free(&lists[i]);
    return code;
}

static int push_rows(struct pushing *pushing, struct error *err) {
    const struct layout *layout = &pushing->push->team->layout;
    for (size_t i = 0; i < layout->count; i++)
        if (push_table(pushing, &layout->tables[i], err)) return -1;
    if (send_made(pushing, &pushing->findings, embedded_text("team/push/copy_findings"), err) ||
        send_made(pushing, &pushing->finding_counts, embedded_text("team/push/copy_finding_counts"), err) ||
        send_made(pushing, &pushing->figures, embedded_text("team/copy_figures.sql"), err))
        return -1;
    return push_names_send(&pushing->push->names, pushing->push->team, err); /* what the rows named is known now */
}

/* What we sent before a clear store gc may be gone. */
static int begin(struct push *push, struct error *err) {
    struct team_server *server = &push->team->server;
    const char *values[] = {push->team->project_number};
    struct team_answer answer;
    if (team_run(server, embedded_text("team/push/begin"), err) ||
        team_ask(server, embedded_text("team/push_state.sql"), values, 1, &answer, err))
        return -1;
    int64_t swept = team_int(&answer, 0, 0);
    bool has_moved = *team_word(&answer, 0, 1) == 't';
    team_answer_free(&answer);
    if (has_moved)
        return error_fail(err, "%s: project %s was moved to another server meanwhile: push again", server->name,
                          push->team->project_name);
    if (push->swept < 0) push->swept = swept;
    return push->swept == swept
               ? 0
               : error_fail(err, "%s: clear store gc deleted names meanwhile: push again", server->name);
}

static int push_all(struct pushing *pushing, bool *is_known, struct error *err) {
    struct team *team = pushing->push->team;
    const char *project[] = {team->project_number, team->project_name};
    if (begin(pushing->push, err) ||
        team_ask(&team->server, embedded_text("team/push/put_project"), project, 2, NULL, err) ||
        (!pushing->is_wanting && claim(pushing, is_known, err)))
        return -1;
    if (*is_known && !pushing->is_wanting) {
        team_rollback(&team->server);
        return 0;
    }
    return push_rows(pushing, err) || team_run(&team->server, "COMMIT", err) ? -1 : 0;
}

/* In a transaction of its own: the month is there for everybody, whatever becomes of this run. */
static int make_month(struct pushing *pushing, struct error *err) {
    struct team_server *server = &pushing->push->team->server;
    const char *values[] = {pushing->month.text};
    struct team_answer answer;
    if (strcmp(pushing->push->month.text, pushing->month.text) == 0) return 0;
    if (team_ask(server, embedded_text("team/push/has_month"), values, 1, &answer, err)) return -1;
    bool is_there = answer.rows > 0;
    team_answer_free(&answer);
    if (!is_there && team_ask(server, "SELECT clear.add_month($1)", values, 1, NULL, err)) return -1;
    pushing->push->month = pushing->month;
    return 0;
}

bool push_gave_up(const struct push *push) {
    static const char *const states[] = {"55P03", "57014", "25P03"}; /* of a lock, a statement, a transaction */
    if (!push->team->server.connection) return false;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(push->team->server.sqlstate, states[i]) == 0) return true;
    return team_is_lost(&push->team->server);
}

static int push_new(struct pushing *pushing, bool *is_known, struct error *err) {
    pushing->push->team->server.sqlstate[0] = '\0';
    if (find_known(pushing, is_known, err)) return -1;
    if (*is_known && !pushing->is_wanting) return 0;
    if (make_month(pushing, err) || use_names(pushing, err)) return -1;
    if (!pushing->is_wanting && (make_findings(pushing, err) || make_figures(pushing, err))) return -1;
    if (push_all(pushing, is_known, err) == 0) {
        if (!*is_known || pushing->is_wanting) {
            push_names_sent(&pushing->push->names);
            pushing->push->has_stored = true;
        }
        return 0;
    }
    team_rollback(&pushing->push->team->server);
    return push_gave_up(pushing->push) ? team_give_way(&pushing->push->team->server, err) : -1;
}

/* Whether clear recover would store more of the run than the file has. */
static bool is_lost(const char *warehouse, const char *uuid) {
    bool is_found = false;
    char **paths = lost_find(warehouse, NULL);
    for (char **path = paths; *path; path++) {
        struct lost lost;
        struct error ignored = {0};
        if (!is_found && lost_open(&lost, *path, &ignored) == 1) {
            is_found = lost.uuid && strcmp(lost.uuid, uuid) == 0;
            lost_close(&lost);
        }
        free(*path);
    }
    free(paths);
    return is_found;
}

int push_run(struct push *push, int64_t run_id, enum push_outcome *outcome, struct error *err) {
    struct pushing pushing = {.push = push, .run_id = run_id};
    bool is_unfinished = false, is_known = false;
    int code = read_run(&pushing, &is_unfinished, err);
    *outcome = PUSH_STORED;
    if (code == 0 && is_unfinished && live_recording_is(pushing.uuid)) *outcome = PUSH_RECORDING;
    if (code == 0 && is_unfinished && *outcome == PUSH_STORED && is_lost(push->db->path, pushing.uuid))
        *outcome = PUSH_LOST;
    if (code == 0 && *outcome == PUSH_STORED) code = push_new(&pushing, &is_known, err);
    if (is_known) *outcome = PUSH_KNOWN;
    pushing_free(&pushing);
    return code;
}
