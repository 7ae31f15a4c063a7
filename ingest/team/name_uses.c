#include "ingest/team/name_uses.h"

#include "base/error.h"

static void add(struct name_use *uses, size_t *count, struct name_use use) {
    if (*count == NAME_USES_MAX) bug("names are used in more than %d columns", NAME_USES_MAX);
    uses[(*count)++] = use;
}

static void add_tables(const struct layout *layout, enum source_name kind, struct name_use *uses, size_t *count) {
    for (size_t i = 0; i < layout->count; i++) {
        const struct layout_table *table = &layout->tables[i];
        for (int j = 0; j < table->column_count; j++) {
            const struct layout_column *column = &table->columns[j];
            if (column->is_left_out || layout_has_places(table, column)) continue;
            bool is_mappings = column->role.role == COPY_MAPPINGS && kind == SOURCE_MAPPING;
            bool is_key = column->role.role == COPY_NAME && column->role.target == kind;
            if (is_mappings || is_key)
                add(uses, count,
                    (struct name_use){table->name, column->name, SOURCE_NONE, is_mappings || table->is_list, false});
        }
    }
}

static void add_names(enum source_name kind, struct name_use *uses, size_t *count) {
    for (int i = kind + 1; i < SOURCE_NAMES; i++)
        for (const struct name_column *column = name_kinds[i].columns; column->name; column++)
            if ((column->type == NAME_KEY || column->type == NAME_KEYS) && column->target == kind)
                add(uses, count,
                    (struct name_use){name_kinds[i].table, column->name, (enum source_name)i, column->type == NAME_KEYS,
                                      column->is_derived});
}

size_t name_uses_of(const struct layout *layout, enum source_name kind, struct name_use uses[NAME_USES_MAX]) {
    static const struct {
        enum source_name kind;
        const char *column;
    } lists[] = {{SOURCE_TRACE, "traces"}, {SOURCE_LABEL_SET, "label_sets"}, {SOURCE_OBJECT, "objects"}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].kind == kind)
            add(uses, &count, (struct name_use){"run_names", lists[i].column, SOURCE_NONE, true, false});
    add_tables(layout, kind, uses, &count);
    add_names(kind, uses, &count);
    return count;
}
