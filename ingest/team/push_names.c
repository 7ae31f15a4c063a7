#include "ingest/team/push_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/integers.h"
#include "ingest/team/copy_text.h"
#include "schema/schema.h"

void push_names_free(struct push_names *names) {
    for (int i = 0; i < SOURCE_NAMES; i++) {
        for (size_t j = 0; j < names->kinds[i].count; j++)
            free(names->kinds[i].items[j].row);
        free(names->kinds[i].items);
        map_free(&names->kinds[i].ids);
    }
    *names = (struct push_names){0};
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* A JSON array of ids or numbers, as keys or numbers. */
static int read_list(struct push_names *names, const struct name_column *column, const char *json, struct buffer *list,
                     struct error *err) {
    const char *at = integers_first(json);
    int64_t value, key;
    while (at && *at != ']') {
        at = integers_next(at, &value);
        if (!at) break;
        key = value;
        if (column->type == NAME_KEYS && push_names_key(names, column->target, value, &key, err)) return -1;
        buffer_add(list, &key, sizeof key);
    }
    return integers_ended(at) ? 0 : error_fail(err, "%s: is damaged: no list of ids: %.100s", names->db->path, json);
}

static int add_column(struct push_names *names, const struct name_column *column, sqlite3_stmt *row, int at,
                      struct content_hash *hash, struct buffer *fields, struct error *err) {
    struct name_value value = {.text = db_text(row, at), .number = sqlite3_column_int64(row, at)};
    struct buffer list = {0};
    int code = 0;
    bool is_none = column->is_derived && value.number == 0;
    if (column->type == NAME_KEY && !is_none)
        code = push_names_key(names, column->target, value.number, &value.number, err);
    if (column->type == NAME_KEYS || column->type == NAME_INTS) code = read_list(names, column, value.text, &list, err);
    value.list = (const int64_t *)(const void *)list.data;
    value.count = list.size / sizeof *value.list;
    name_hash(hash, column, &value);
    copy_tab(fields);
    if (column->type == NAME_TEXT)
        copy_text(fields, value.text);
    else if (column->type == NAME_INT || column->type == NAME_KEY)
        copy_int(fields, value.number);
    else
        copy_ints(fields, value.list, value.count);
    buffer_free(&list);
    return code;
}

static int read_name(struct push_names *names, const struct name_kind *kind, sqlite3_stmt *row, struct push_name *name,
                     struct error *err) {
    struct buffer fields = {0};
    struct content_hash hash;
    int code = 0;
    content_begin(&hash, kind->thing);
    for (int i = 0; code == 0 && kind->columns[i].name; i++)
        code = add_column(names, &kind->columns[i], row, i, &hash, &fields, err);
    if (code == 0) {
        name->key = content_end(&hash);
        name->row = xasprintf("%" PRId64 "\t%" PRId64 "%s", name->key.key, name->key.check, buffer_text(&fields));
    }
    buffer_free(&fields);
    return code;
}

static int make_name(struct push_names *names, enum source_name which, int64_t id, struct push_name *name,
                     struct error *err) {
    const struct name_kind *kind = &name_kinds[which];
    sqlite3_stmt *row = db_prepare(names->db, embedded_text(kind->select), err);
    if (!row) return -1;
    db_bind_int(row, ":id", id);
    int code = db_step(names->db, row, err);
    if (code == 0)
        code =
            error_fail(err, "%s: is damaged: there is no row %lld in %s", names->db->path, (long long)id, kind->table);
    else if (code == 1)
        code = read_name(names, kind, row, name, err);
    sqlite3_reset(row);
    return code;
}

int push_names_key(struct push_names *names, enum source_name which, int64_t id, int64_t *key, struct error *err) {
    struct push_kind *kind = &names->kinds[which];
    struct push_name name;
    const struct map_entry *known = map_find(&kind->ids, &id, sizeof id);
    if (id == 0 &&
        (which == SOURCE_MAPPING || which == SOURCE_TRACE || which == SOURCE_LABEL_SET || which == SOURCE_SUBJECT)) {
        *key = 0;
        return 0;
    }
    if (known) {
        *key = kind->items[known->value].key.key;
        return 0;
    }
    if (make_name(names, which, id, &name, err)) return -1;
    map_put(&kind->ids, &id, sizeof id, NULL)->value = (int64_t)kind->count;
    if ((kind->count & (kind->count - 1)) == 0)
        kind->items = xrealloc(kind->items, (kind->count ? 2 * kind->count : 1) * sizeof *kind->items);
    kind->items[kind->count++] = name;
    *key = name.key.key;
    return 0;
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

static int fail_clash(struct team *team, const struct name_kind *kind, int64_t key, struct error *err) {
    return error_fail(err, "%s: the store has another %s under the key %" PRId64 ": nothing of the run was stored",
                      team->server.name, kind->thing, key);
}

/* Which of the keys the store has, as a map key -> 1; one with another check is a failure. */
static int ask_known(struct team *team, const struct name_kind *kind, const struct push_kind *names, struct map *known,
                     struct error *err) {
    struct buffer keys = {0}, sql = {0};
    struct map checks = {0};
    struct team_answer answer;
    for (size_t i = names->sent; i < names->count; i++) {
        array_int(&keys, names->items[i].key.key);
        map_put(&checks, &names->items[i].key.key, sizeof(int64_t), NULL)->value = names->items[i].key.check;
    }
    char *list = xasprintf("{%s}", buffer_text(&keys));
    const char *values[] = {team->project_number, list};
    /* layers-ok: a table of clear's own */
    buffer_printf(&sql, "SELECT key, \"check\" FROM clear.\"%s\" WHERE project = $1 AND key = ANY($2::bigint[])",
                  kind->table);
    int code = team_ask(&team->server, buffer_text(&sql), values, 2, &answer, err);
    for (int i = 0; code == 0 && i < answer.rows; i++) {
        int64_t key = team_int(&answer, i, 0);
        const struct map_entry *check = map_find(&checks, &key, sizeof key);
        if (!check)
            code = error_fail(err, "%s: is damaged: it has a %s that it was not asked for", team->server.name,
                              kind->thing);
        else if (check->value != team_int(&answer, i, 1))
            code = fail_clash(team, kind, key, err);
        map_put(known, &key, sizeof key, NULL)->value = 1;
    }
    team_answer_free(&answer);
    map_free(&checks);
    buffer_free(&keys);
    buffer_free(&sql);
    free(list);
    return code;
}

/* Rows that the store lacks, in COPY's format. */
static size_t add_missing(const struct team *team, const struct push_kind *names, struct map *known,
                          struct buffer *rows) {
    size_t count = 0;
    for (size_t i = names->sent; i < names->count; i++) {
        bool is_new;
        map_put(known, &names->items[i].key.key, sizeof(int64_t), &is_new);
        if (!is_new) continue; /* two ids of one definition count once */
        buffer_printf(rows, "%s\t%s\n", team->project_number, names->items[i].row);
        count++;
    }
    return count;
}

/* In the order of the keys: eight writers without an order had eight deadlocks. */
static int insert_sorted(struct team *team, const struct name_kind *kind, const struct buffer *rows, int64_t *inserted,
                         struct error *err) {
    struct buffer make = {0}, copy = {0}, insert = {0};
    const char *table = kind->table;
    /* layers-ok: tables and columns of clear's own */
    buffer_printf(&make, "CREATE TEMP TABLE IF NOT EXISTS \"new_%s\" (LIKE clear.\"%s\") ON COMMIT DELETE ROWS", table,
                  table);
    buffer_printf(&copy, "COPY pg_temp.\"new_%s\"(project, key, \"check\", ", table);
    name_columns_add(&copy, kind, "");
    buffer_add_text(&copy, ") FROM STDIN");
    /* layers-ok: as above */
    buffer_printf(&insert, "INSERT INTO clear.\"%s\"(project, key, \"check\", ", table);
    name_columns_add(&insert, kind, "");
    buffer_add_text(&insert, ") SELECT project, key, \"check\", ");
    name_columns_add(&insert, kind, "");
    buffer_printf(&insert, " FROM pg_temp.\"new_%s\" ORDER BY key ON CONFLICT DO NOTHING", table); /* layers-ok: same */
    int code = team_run(&team->server, buffer_text(&make), err) ||
                       team_copy(&team->server, buffer_text(&copy), rows, err) ||
                       team_change(&team->server, buffer_text(&insert), NULL, 0, inserted, err)
                   ? -1
                   : 0;
    buffer_free(&make);
    buffer_free(&copy);
    buffer_free(&insert);
    return code;
}

static int send_kind(struct team *team, const struct name_kind *kind, const struct push_kind *names, int64_t *bytes,
                     struct error *err) {
    struct buffer rows = {0};
    struct map known = {0};
    size_t count = 0;
    int64_t inserted = 0;
    if (names->sent == names->count) return 0;
    int code = ask_known(team, kind, names, &known, err);
    if (code == 0) count = add_missing(team, names, &known, &rows);
    if (code == 0 && count) code = insert_sorted(team, kind, &rows, &inserted, err);
    *bytes += (int64_t)rows.size;
    map_free(&known);
    /* What another machine stored meanwhile is compared like what was there before. */
    if (code == 0 && inserted != (int64_t)count) code = ask_known(team, kind, names, &known, err);
    map_free(&known);
    buffer_free(&rows);
    return code;
}

int push_names_send(struct push_names *names, struct team *team, struct error *err) {
    for (int i = SOURCE_NONE + 1; i < SOURCE_NAMES; i++)
        if (send_kind(team, &name_kinds[i], &names->kinds[i], &names->bytes, err)) return -1;
    return 0;
}

void push_names_sent(struct push_names *names) {
    for (int i = 0; i < SOURCE_NAMES; i++) {
        struct push_kind *kind = &names->kinds[i];
        for (; kind->sent < kind->count; kind->sent++) {
            free(kind->items[kind->sent].row);
            kind->items[kind->sent].row = NULL;
        }
    }
}
