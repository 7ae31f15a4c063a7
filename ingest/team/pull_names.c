#include "ingest/team/pull_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/symbols/source_rows.h"
#include "ingest/team/copy_text.h"
#include "schema/schema.h"

static void free_rows(struct pull_kind *kind) {
    for (size_t i = 0; i < kind->count; i++) {
        for (int column = 0; column < NAME_COLUMNS_MAX; column++)
            buffer_free(&kind->rows[i].fields[column]);
        free(kind->rows[i].fields);
    }
    free(kind->rows);
}

void pull_names_free(struct pull_names *names) {
    for (int i = 0; i < SOURCE_NAMES; i++) {
        struct pull_kind *kind = &names->kinds[i];
        free_rows(kind);
        map_free(&kind->ids);
        map_free(&kind->fetched);
        map_free(&kind->asked);
        buffer_free(&kind->wanted);
    }
    *names = (struct pull_names){0};
}

static bool has_none(enum source_name kind) {
    return kind == SOURCE_MAPPING || kind == SOURCE_TRACE || kind == SOURCE_LABEL_SET;
}

void pull_names_want(struct pull_names *names, enum source_name which, int64_t key) {
    struct pull_kind *kind = &names->kinds[which];
    bool is_new;
    if (key == 0 && has_none(which)) return;
    map_put(&kind->asked, &key, sizeof key, &is_new);
    if (is_new) buffer_add(&kind->wanted, &key, sizeof key);
}

/* ---- fetching ---------------------------------------------------------------------------------------------------- */

static void read_array(const char *text, struct buffer *list) {
    char *at = (char *)text + (*text == '{');
    while (*at && *at != '}') {
        int64_t value = strtoll(at, &at, 10);
        buffer_add(list, &value, sizeof value);
        if (*at != ',') return;
        at++;
    }
}

static struct name_value value_of(const struct name_column *column, const struct buffer *field) {
    struct name_value value = {.text = buffer_text(field)};
    if (column->type == NAME_INT || column->type == NAME_KEY) value.number = strtoll(value.text, NULL, 10);
    value.list = (const int64_t *)(const void *)field->data;
    value.count = field->size / sizeof *value.list;
    return value;
}

static void want_named(struct pull_names *names, const struct name_column *column, const struct name_value *value) {
    if (column->type == NAME_KEY) pull_names_want(names, column->target, value->number);
    for (size_t i = 0; column->type == NAME_KEYS && i < value->count; i++)
        pull_names_want(names, column->target, value->list[i]);
}

static int add_row(struct pull_names *names, enum source_name which, const struct team_answer *answer, int at,
                   struct error *err) {
    struct pull_kind *kind = &names->kinds[which];
    struct content_hash hash;
    int64_t key = team_int(answer, at, 0);
    if ((kind->count & (kind->count - 1)) == 0)
        kind->rows = xrealloc(kind->rows, (kind->count ? 2 * kind->count : 1) * sizeof *kind->rows);
    struct pull_row *row = &kind->rows[kind->count];
    row->fields = xcalloc(NAME_COLUMNS_MAX, sizeof *row->fields);
    map_put(&kind->fetched, &key, sizeof key, NULL)->value = (int64_t)kind->count++;
    content_begin(&hash, name_kinds[which].thing);
    for (int i = 0; name_kinds[which].columns[i].name; i++) {
        const struct name_column *column = &name_kinds[which].columns[i];
        const char *text = team_text(answer, at, 2 + i);
        if (column->is_derived) continue; /* the file makes it again */
        if (column->type == NAME_KEYS || column->type == NAME_INTS)
            read_array(text ? text : "", &row->fields[i]);
        else
            file_text_add(&row->fields[i], text ? text : "");
        struct name_value value = value_of(column, &row->fields[i]);
        name_hash(&hash, column, &value);
        want_named(names, column, &value);
    }
    struct content_key made = content_end(&hash);
    if (made.key == key && made.check == team_int(answer, at, 1)) return 0;
    return error_fail(err, "%s: is damaged: %s %" PRId64 " is another than its key says", names->team->server.name,
                      name_kinds[which].thing, key);
}

static int fetch_kind(struct pull_names *names, enum source_name which, struct error *err) {
    struct pull_kind *kind = &names->kinds[which];
    struct team *team = names->team;
    const int64_t *wanted = (const int64_t *)(const void *)kind->wanted.data;
    size_t count = kind->wanted.size / sizeof *wanted;
    struct buffer keys = {0}, sql = {0};
    struct team_answer answer;
    if (!count) return 0;
    copy_ints(&keys, wanted, count);
    const char *values[] = {team->project_number, buffer_text(&keys)};
    buffer_add_text(&sql, "SELECT key, \"check\", ");
    name_columns_add(&sql, &name_kinds[which], "");
    /* layers-ok: a table of clear's own */
    buffer_printf(&sql, " FROM clear.\"%s\" WHERE project = $1 AND key = ANY($2::bigint[])", name_kinds[which].table);
    int code = team_ask(&team->server, buffer_text(&sql), values, 2, &answer, err);
    for (int i = 0; code == 0 && i < answer.rows; i++)
        code = add_row(names, which, &answer, i, err);
    if (code == 0 && (size_t)answer.rows != count)
        code =
            error_fail(err, "%s: is damaged: a %s of a run is not there", team->server.name, name_kinds[which].thing);
    team_answer_free(&answer);
    buffer_free(&keys);
    buffer_free(&sql);
    buffer_clear(&kind->wanted);
    return code;
}

/* What names others comes before them. */
int pull_names_fetch(struct pull_names *names, struct error *err) {
    static const enum source_name order[] = {SOURCE_TEXT,     SOURCE_OBJECT,   SOURCE_LABEL_SET, SOURCE_TRACE,
                                             SOURCE_LOCATION, SOURCE_FUNCTION, SOURCE_MAPPING};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (fetch_kind(names, order[i], err)) return -1;
    return 0;
}

/* ---- putting them into the file ---------------------------------------------------------------------------------- */

static int64_t number(const struct pull_row *row, int column) {
    return strtoll(buffer_text(&row->fields[column]), NULL, 10);
}

static const char *text(const struct pull_row *row, int column) {
    return buffer_text(&row->fields[column]);
}

static int64_t put_mapping(struct pull_names *names, const struct pull_row *row, struct error *err) {
    const struct writer_mapping mapping = {.filename = text(row, 0),
                                           .build_id = text(row, 1),
                                           .memory_start = (uint64_t)number(row, 2),
                                           .memory_limit = (uint64_t)number(row, 3),
                                           .file_offset = (uint64_t)number(row, 4),
                                           .has_functions = number(row, 5) != 0,
                                           .has_filenames = number(row, 6) != 0,
                                           .has_line_numbers = number(row, 7) != 0,
                                           .has_inline_frames = number(row, 8) != 0};
    return writer_mapping(names->store, &mapping, err);
}

static int64_t put_function(struct pull_names *names, const struct pull_row *row, struct error *err) {
    return writer_function(names->store, text(row, 0), text(row, 1), text(row, 2), number(row, 3), err);
}

static int64_t put_location(struct pull_names *names, const struct pull_row *row, struct error *err) {
    const int64_t *functions = (const int64_t *)(const void *)row->fields[3].data;
    const int64_t *lines = (const int64_t *)(const void *)row->fields[4].data;
    const int64_t *columns = (const int64_t *)(const void *)row->fields[5].data;
    size_t count = row->fields[3].size / sizeof *functions;
    int64_t mapping = pull_names_id(names, SOURCE_MAPPING, number(row, 0), err), put = mapping < 0 ? -1 : 0;
    if (row->fields[4].size != row->fields[3].size || row->fields[5].size != row->fields[3].size)
        return error_fail(err, "%s: is damaged: the lines of a location", names->team->server.name);
    struct writer_line *items = xcalloc(count + 1, sizeof *items);
    for (size_t i = 0; put == 0 && i < count; i++) {
        items[i] = (struct writer_line){pull_names_id(names, SOURCE_FUNCTION, functions[i], err), lines[i], columns[i]};
        if (items[i].function_id < 0) put = -1;
    }
    if (put == 0)
        put = writer_location(names->store, mapping, (uint64_t)number(row, 1), number(row, 2) != 0, items, count, err);
    free(items);
    return put;
}

static int64_t put_trace(struct pull_names *names, const struct pull_row *row, struct error *err) {
    const int64_t *keys = (const int64_t *)(const void *)row->fields[0].data;
    size_t count = row->fields[0].size / sizeof *keys;
    int64_t *ids = xcalloc(count + 1, sizeof *ids), put = 0;
    for (size_t i = 0; put == 0 && i < count; i++) {
        ids[i] = pull_names_id(names, SOURCE_LOCATION, keys[i], err);
        if (ids[i] < 0) put = -1;
    }
    if (put == 0) put = writer_stack(names->store, ids, count, err);
    free(ids);
    return put;
}

/* The set is checked, as one of a stranger's file is: it becomes part of JSON. */
static int64_t put_label_set(struct pull_names *names, const struct pull_row *row, struct error *err) {
    struct db *db = names->store->db;
    sqlite3_stmt *check = db_prepare(db, embedded_text("team/names/is_label_set"), err);
    if (!check) return -1;
    db_bind_text(check, ":labels", text(row, 0));
    int code = db_step(db, check, err);
    bool is_list = code == 1 && sqlite3_column_int(check, 0);
    sqlite3_reset(check);
    if (code < 0) return -1;
    if (!is_list) return error_fail(err, "%s: is damaged: a label set", names->team->server.name);
    return writer_label_set_text(names->store, text(row, 0), err);
}

static int64_t put_object(struct pull_names *names, const struct pull_row *row, struct error *err) {
    int64_t trace = pull_names_id(names, SOURCE_TRACE, number(row, 3), err);
    if (trace < 0) return -1;
    return writer_object(names->store, text(row, 0), text(row, 1), text(row, 2), trace, (uint64_t)number(row, 4), err);
}

static int64_t put_text(struct pull_names *names, const struct pull_row *row, struct error *err) {
    return sources_put_text(names->store->db, text(row, 1), err);
}

int64_t pull_names_id(struct pull_names *names, enum source_name which, int64_t key, struct error *err) {
    static int64_t (*const put[SOURCE_NAMES])(struct pull_names *, const struct pull_row *, struct error *) = {
        [SOURCE_MAPPING] = put_mapping, [SOURCE_FUNCTION] = put_function,   [SOURCE_LOCATION] = put_location,
        [SOURCE_TRACE] = put_trace,     [SOURCE_LABEL_SET] = put_label_set, [SOURCE_OBJECT] = put_object,
        [SOURCE_TEXT] = put_text};
    struct pull_kind *kind = &names->kinds[which];
    if (key == 0 && has_none(which)) return 0;
    const struct map_entry *known = map_find(&kind->ids, &key, sizeof key);
    if (known) return known->value;
    const struct map_entry *row = map_find(&kind->fetched, &key, sizeof key);
    if (!row)
        return error_fail(err, "%s: is damaged: a run names a %s that it does not list", names->team->server.name,
                          name_kinds[which].thing);
    int64_t id = put[which](names, &kind->rows[row->value], err);
    if (id >= 0) map_put(&kind->ids, &key, sizeof key, NULL)->value = id;
    return id;
}
