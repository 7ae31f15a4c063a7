#include "ingest/team/names_used.h"

#include "ingest/team/name_uses.h"

static void add_use(struct buffer *sql, const struct names_used *used, const struct name_use *use) {
    buffer_add_text(sql, sql->size ? "\nUNION SELECT item.project, " : "SELECT item.project, ");
    buffer_printf(sql, use->is_list ? "unnest(item.\"%s\")" : "item.\"%s\"", use->column);
    buffer_add_text(sql, " AS key"); /* layers-ok: tables and columns of clear's own */
    buffer_printf(sql, " FROM clear.\"%s\" AS item", use->table);
    if (use->of == SOURCE_NONE)
        buffer_add_text(sql, used->runs);
    else /* of names that are used themselves: their kinds were decided before */
        buffer_printf(sql, " JOIN pg_temp.\"%s%s\" AS used USING (project, key)", used->prefix, use->table);
}

static int find_kind(struct team_server *server, const struct layout *layout, const struct names_used *used,
                     enum source_name kind, struct error *err) {
    struct name_use uses[NAME_USES_MAX];
    struct buffer sql = {0}, selects = {0};
    const char *table = name_kinds[kind].table;
    size_t count = name_uses_of(layout, kind, uses);
    for (size_t i = 0; i < count; i++)
        add_use(&selects, used, &uses[i]);
    /* layers-ok: as above */
    buffer_printf(&sql, "CREATE TEMP TABLE \"%s%s\" ON COMMIT DROP AS\n", used->prefix, table);
    buffer_add_text(&sql, buffer_text(&selects));
    buffer_printf(&sql, "; ANALYZE pg_temp.\"%s%s\"", used->prefix, table);
    int code = team_run(server, buffer_text(&sql), err);
    buffer_free(&sql);
    buffer_free(&selects);
    return code;
}

/* What names others comes before these. */
int names_used_find(struct team_server *server, const struct layout *layout, const struct names_used *used,
                    struct error *err) {
    for (int kind = SOURCE_NAMES - 1; kind > SOURCE_NONE; kind--)
        if (find_kind(server, layout, used, (enum source_name)kind, err)) return -1;
    return 0;
}
