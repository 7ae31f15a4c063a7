#include "ingest/team/pull.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/read/warehouse/run_order.h"
#include "ingest/team/copy_text.h"
#include "ingest/writer/run_seal.h"
#include "ingest/writer/site_rows.h"
#include "schema/schema.h"

int pull_begin(struct pull *pull, struct team *team, struct db *db, struct error *err) {
    *pull = (struct pull){.team = team, .db = db};
    pull->names = (struct pull_names){.team = team, .store = &pull->store};
    return writer_open(&pull->store, db, err);
}

void pull_end(struct pull *pull) {
    pull_names_free(&pull->names);
    writer_free(&pull->store);
}

/* What is being pulled. */
struct pulling {
    struct pull *pull;
    const struct team_run_name *run;
    const char *values[3];            /* project, month, uuid */
    struct buffer keys[SOURCE_NAMES]; /* int64_t: of stacks, label sets, objects, in order */
    struct buffer ids[SOURCE_NAMES];  /* int64_t: the same in the file */
    struct map processes, profiles;   /* id in the store -> id in the file */
    struct buffer json;
    struct team_answer *answers; /* a table of the layout each */
    int64_t run_id;
};

static void pulling_free(struct pulling *pulling) {
    for (int i = 0; i < SOURCE_NAMES; i++) {
        buffer_free(&pulling->keys[i]);
        buffer_free(&pulling->ids[i]);
    }
    for (size_t i = 0; i < pulling->pull->team->layout.count; i++)
        team_answer_free(&pulling->answers[i]);
    free(pulling->answers);
    map_free(&pulling->processes);
    map_free(&pulling->profiles);
    buffer_free(&pulling->json);
}

static int fail_damaged(struct pulling *pulling, const char *what, struct error *err) {
    return error_fail(err, "%s: is damaged: run %s: %s", pulling->pull->team->server.name, pulling->run->uuid, what);
}

/* ---- from the store ---------------------------------------------------------------------------------------------- */

static void read_keys(const char *array, struct buffer *keys) {
    char *at = (char *)array + (*array == '{'), *end;
    while (*at && *at != '}') {
        int64_t key = strtoll(at, &end, 10);
        if (end == at) return; /* no number: what the run names is not there, which is said then */
        buffer_add(keys, &key, sizeof key);
        at = end + (*end == ',');
    }
}

static const enum source_name things[] = {SOURCE_TRACE, SOURCE_LABEL_SET, SOURCE_OBJECT};
enum { THINGS = sizeof things / sizeof *things };

static int fetch_lists(struct pulling *pulling, struct error *err) {
    struct pull *pull = pulling->pull;
    struct team_answer answer;
    int code = team_ask(&pull->team->server, embedded_text("team/runs/names"), pulling->values, 3, &answer, err);
    if (code == 0 && !answer.rows) code = fail_damaged(pulling, "it is gone", err);
    for (int i = 0; code == 0 && i < THINGS; i++) {
        struct buffer *keys = &pulling->keys[things[i]];
        read_keys(team_word(&answer, 0, i), keys);
        for (size_t j = 0; j < keys->size / sizeof(int64_t); j++)
            pull_names_want(&pull->names, things[i], ((const int64_t *)(const void *)keys->data)[j]);
    }
    team_answer_free(&answer);
    return code;
}

static void want_mappings(struct pull_names *names, const char *array) {
    struct buffer keys = {0};
    read_keys(array, &keys);
    for (size_t i = 0; i < keys.size / sizeof(int64_t); i++)
        pull_names_want(names, SOURCE_MAPPING, ((const int64_t *)(const void *)keys.data)[i]);
    buffer_free(&keys);
}

static void want_named(struct pulling *pulling, const struct layout_table *table, const struct team_answer *answer) {
    for (int i = 0; i < table->column_count; i++) {
        const struct copy_column *role = &table->columns[i].role;
        if (layout_has_places(table, &table->columns[i])) continue;
        for (int row = 0; row < answer->rows; row++) {
            const char *text = team_text(answer, row, i);
            if (text && role->role == COPY_NAME)
                pull_names_want(&pulling->pull->names, role->target, strtoll(text, NULL, 10));
            if (text && role->role == COPY_MAPPINGS) want_mappings(&pulling->pull->names, text);
        }
    }
}

/* What the store's views read, and a file makes itself. */
static bool is_derived(const struct layout_table *table) {
    return table->table && table->table->is_derived;
}

static int fetch_tables(struct pulling *pulling, struct error *err) {
    const struct layout *layout = &pulling->pull->team->layout;
    for (size_t i = 0; i < layout->count; i++) {
        struct buffer sql = {0};
        if (is_derived(&layout->tables[i])) continue;
        layout_add_select(&sql, &layout->tables[i]);
        int code =
            team_ask(&pulling->pull->team->server, buffer_text(&sql), pulling->values, 3, &pulling->answers[i], err);
        buffer_free(&sql);
        if (code) return -1;
        want_named(pulling, &layout->tables[i], &pulling->answers[i]);
    }
    return 0;
}

/* One snapshot, so that a run is not dropped between two tables. */
static int fetch_here(struct pulling *pulling, struct error *err) {
    struct team_server *server = &pulling->pull->team->server;
    if (team_run(server, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err)) return -1;
    int code = fetch_lists(pulling, err) || fetch_tables(pulling, err) || pull_names_fetch(&pulling->pull->names, err);
    if (code == 0) return team_run(server, "COMMIT", err);
    team_rollback(server);
    return -1;
}

/* A run that is gone may have gone to another server. */
static int fetch(struct pulling *pulling, struct error *err) {
    struct error second = {0};
    bool has_moved;
    int code = fetch_here(pulling, err);
    if (code == 0 || team_follow(pulling->pull->team, &has_moved, &second) || !has_moved) return code;
    for (int i = 0; i < SOURCE_NAMES; i++)
        buffer_free(&pulling->keys[i]);
    *err = (struct error){0};
    return fetch_here(pulling, err);
}

/* ---- into the file ----------------------------------------------------------------------------------------------- */

static int put_things(struct pulling *pulling, struct error *err) {
    for (int i = 0; i < THINGS; i++) {
        const int64_t *keys = (const int64_t *)(const void *)pulling->keys[things[i]].data;
        for (size_t j = 0; j < pulling->keys[things[i]].size / sizeof *keys; j++) {
            int64_t id = pull_names_id(&pulling->pull->names, things[i], keys[j], err);
            if (id < 0) return -1;
            buffer_add(&pulling->ids[things[i]], &id, sizeof id);
        }
    }
    return 0;
}

static int keep_order(struct pulling *pulling, struct error *err) {
    for (int i = 0; i < THINGS; i++) {
        const struct buffer *ids = &pulling->ids[things[i]];
        if (run_order_put(pulling->pull->db, things[i], pulling->run_id, (const int64_t *)(const void *)ids->data,
                          ids->size / sizeof(int64_t), err))
            return -1;
    }
    return 0;
}

static int find_id(struct pulling *pulling, const struct map *ids, int64_t there, int64_t *here, struct error *err) {
    const struct map_entry *entry = map_find(ids, &there, sizeof there);
    if (entry) *here = entry->value;
    return entry ? 0 : fail_damaged(pulling, "a profile or process that it does not have", err);
}

/* Of a list: the thing at that place of the run. */
static int find_place(struct pulling *pulling, enum source_name thing, int64_t place, int64_t *here,
                      struct error *err) {
    const struct buffer *ids = &pulling->ids[thing];
    *here = 0;
    if (place == 0 && thing != SOURCE_OBJECT) return 0;
    if (place < 1 || (size_t)place > ids->size / sizeof *here)
        return fail_damaged(pulling, "a place that is not in its lists", err);
    *here = ((const int64_t *)(const void *)ids->data)[place - 1];
    return 0;
}

/* The id in the file of a column that is one. */
static int translate(struct pulling *pulling, const struct layout_table *table, const struct layout_column *column,
                     int64_t there, int64_t *here, struct error *err) {
    const struct copy_column *role = &column->role;
    switch (role->role) {
    case COPY_PROCESS: return find_id(pulling, &pulling->processes, there, here, err);
    case COPY_PROFILE: return find_id(pulling, &pulling->profiles, there, here, err);
    case COPY_NAME:
        if (layout_has_places(table, column)) return find_place(pulling, role->target, there, here, err);
        *here = pull_names_id(&pulling->pull->names, role->target, there, err);
        return *here < 0 ? -1 : 0;
    default: *here = there; return 0;
    }
}

static int bind_mappings(struct pulling *pulling, sqlite3_stmt *insert, int at, const char *array, struct error *err) {
    struct buffer keys = {0}, ids = {0};
    int code = 0;
    read_keys(array, &keys);
    for (size_t i = 0; code == 0 && i < keys.size / sizeof(int64_t); i++) {
        int64_t key = ((const int64_t *)(const void *)keys.data)[i];
        int64_t id = pull_names_id(&pulling->pull->names, SOURCE_MAPPING, key, err);
        if (id < 0) code = -1;
        buffer_add(&ids, &id, sizeof id);
    }
    buffer_clear(&pulling->json);
    buffer_add_json_integers(&pulling->json, (const int64_t *)(const void *)ids.data, ids.size / sizeof(int64_t));
    sqlite3_bind_text(insert, at, buffer_text(&pulling->json), -1, SQLITE_TRANSIENT);
    buffer_free(&keys);
    buffer_free(&ids);
    return code;
}

static int bind_column(struct pulling *pulling, const struct layout_table *table, int i, const char *text,
                       sqlite3_stmt *insert, struct error *err) {
    const struct layout_column *column = &table->columns[i];
    int64_t here = 0;
    if (column->role.role == COPY_ID) return 0; /* a new one */
    if (column->role.role == COPY_RUN) {
        sqlite3_bind_int64(insert, i + 1, pulling->run_id);
    } else if (table->is_run && strcmp(column->name, "uuid") == 0) {
        sqlite3_bind_text(insert, i + 1, pulling->run->uuid, -1, SQLITE_STATIC);
    } else if (!text) {
        sqlite3_bind_null(insert, i + 1);
    } else if (column->role.role == COPY_MAPPINGS) {
        return bind_mappings(pulling, insert, i + 1, text, err);
    } else if (column->type == LAYOUT_TEXT) {
        file_text_bind(insert, i + 1, text);
    } else if (column->type == LAYOUT_REAL) {
        sqlite3_bind_double(insert, i + 1, strtod(text, NULL));
    } else {
        if (translate(pulling, table, column, strtoll(text, NULL, 10), &here, err)) return -1;
        sqlite3_bind_int64(insert, i + 1, here);
    }
    return 0;
}

static void remember(struct pulling *pulling, const struct layout_table *table, const char *there) {
    int64_t here = sqlite3_last_insert_rowid(pulling->pull->db->handle), id = there ? strtoll(there, NULL, 10) : 0;
    if (table->is_run) pulling->run_id = here;
    if (strcmp(table->name, "processes") == 0) map_put(&pulling->processes, &id, sizeof id, NULL)->value = here;
    if (strcmp(table->name, "profiles") == 0) map_put(&pulling->profiles, &id, sizeof id, NULL)->value = here;
}

static int put_rows(struct pulling *pulling, const struct layout_table *table, const struct team_answer *answer,
                    struct error *err) {
    struct db *db = pulling->pull->db;
    for (int row = 0; row < answer->rows; row++) {
        sqlite3_stmt *insert = db_prepare(db, table->table->insert, err);
        if (!insert) return -1;
        for (int i = 0; i < table->column_count; i++)
            if (bind_column(pulling, table, i, team_text(answer, row, i), insert, err)) return -1;
        if (db_run(db, insert, err)) return -1;
        remember(pulling, table, team_text(answer, row, 0));
    }
    return 0;
}

/* ---- allocation sites -------------------------------------------------------------------------------------------- */

static int read_site(struct pulling *pulling, const struct team_answer *answer, int row, struct site_row *site,
                     struct error *err) {
    site->alloc_count = team_int(answer, row, 3);
    site->alloc_bytes = team_int(answer, row, 4);
    site->free_count = team_int(answer, row, 5);
    site->free_bytes = team_int(answer, row, 6);
    return find_place(pulling, SOURCE_TRACE, team_int(answer, row, 1), &site->trace_id, err) ||
                   find_place(pulling, SOURCE_LABEL_SET, team_int(answer, row, 2), &site->label_set_id, err)
               ? -1
               : 0;
}

static int put_sites(struct pulling *pulling, const struct team_answer *answer, struct error *err) {
    struct buffer sites = {0};
    int code = 0;
    for (int row = 0; code == 0 && row < answer->rows; row++) {
        struct site_row site;
        int64_t there = team_int(answer, row, 0), profile_id = 0;
        code = read_site(pulling, answer, row, &site, err);
        buffer_add(&sites, &site, sizeof site);
        bool is_last = row + 1 == answer->rows || team_int(answer, row + 1, 0) != there;
        if (code || !is_last) continue;
        code = find_id(pulling, &pulling->profiles, there, &profile_id, err);
        if (code == 0)
            code = site_rows_put(&pulling->pull->store, profile_id, (const struct site_row *)(const void *)sites.data,
                                 sites.size / sizeof site, err);
        buffer_clear(&sites);
    }
    buffer_free(&sites);
    return code;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static int put_tables(struct pulling *pulling, struct error *err) {
    const struct layout *layout = &pulling->pull->team->layout;
    for (size_t i = 0; i < layout->count; i++) {
        const struct layout_table *table = &layout->tables[i];
        const struct team_answer *answer = &pulling->answers[i];
        if (is_derived(table)) continue;
        if (table->is_run && answer->rows != 1) return fail_damaged(pulling, "it has no row", err);
        if (table->table ? put_rows(pulling, table, answer, err) : put_sites(pulling, answer, err)) return -1;
    }
    return 0;
}

/* 1: the run is in the file as *run_id, 0: it is not, -1. */
static int find_known(struct pulling *pulling, const char *hash, int64_t *run_id, struct error *err) {
    struct db *db = pulling->pull->db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("merge/known_run.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", pulling->run->uuid);
    db_bind_text(row, ":hash", hash);
    int code = db_step(db, row, err);
    if (code == 1) *run_id = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return code;
}

static int put_run(struct pulling *pulling, struct error *err) {
    struct pull *pull = pulling->pull;
    int64_t version = pull->store.data_version;
    if (writer_refresh(&pull->store, err)) return -1;
    /* Another process wrote to the file, and may have deleted names that nothing used. */
    for (int i = 0; version != pull->store.data_version && i < SOURCE_NAMES; i++)
        map_free(&pull->names.kinds[i].ids);
    if (put_things(pulling, err) || put_tables(pulling, err) || writer_flush(&pull->store, err)) return -1;
    if (keep_order(pulling, err)) return -1;
    return pull->is_passed_on ? 0 : run_seal(pull->db, pulling->run_id, err);
}

/* The store and the names may know ids that were rolled back. */
static void undo(struct pull *pull, struct error *err) {
    struct error second = {0};
    db_rollback(pull->db);
    bool is_passed_on = pull->is_passed_on;
    pull_end(pull);
    if (pull_begin(pull, pull->team, pull->db, &second)) error_fail(err, "%s", second.message);
    pull->is_passed_on = is_passed_on;
}

static const char *content_hash_of(struct pulling *pulling) {
    const struct layout_table *runs = &pulling->pull->team->layout.tables[0];
    for (int i = 0; i < runs->column_count && pulling->answers[0].rows; i++)
        if (strcmp(runs->columns[i].name, "content_hash") == 0) return team_text(&pulling->answers[0], 0, i);
    return NULL;
}

static int put_new(struct pulling *pulling, int64_t *run_id, bool *is_known, struct error *err) {
    struct pull *pull = pulling->pull;
    if (db_begin(pull->db, err)) return -1;
    int code = find_known(pulling, content_hash_of(pulling), run_id, err);
    *is_known = code == 1;
    if (code == 0) code = put_run(pulling, err);
    if (code == 0) *run_id = pulling->run_id;
    if (code >= 0 && db_commit(pull->db, err) == 0) return 0;
    undo(pull, err);
    return -1;
}

int pull_run(struct pull *pull, const struct team_run_name *run, int64_t *run_id, bool *is_known, struct error *err) {
    struct pulling pulling = {
        .pull = pull, .run = run, .values = {pull->team->project_number, run->month.text, run->uuid}};
    pulling.answers = xcalloc(pull->team->layout.count, sizeof *pulling.answers);
    int code = find_known(&pulling, NULL, run_id, err);
    *is_known = code == 1;
    if (code == 0) code = fetch(&pulling, err) || put_new(&pulling, run_id, is_known, err) ? -1 : 0;
    pulling_free(&pulling);
    return code < 0 ? -1 : 0;
}
