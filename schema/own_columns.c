#include "schema/own_columns.h"

#include <stddef.h>
#include <string.h>

/* build/gen/empty_image.s: four texts for each column, each with its NUL; empty in the program that makes them. */
extern const char empty_columns[];
extern const size_t empty_columns_size;

static const char *behind(const char *text) {
    return text + strlen(text) + 1;
}

bool own_columns_next(struct own_column *column) {
    const char *table = column->table ? behind(column->target) : empty_columns;
    if (table == empty_columns + empty_columns_size) return false;
    const char *name = behind(table), *type = behind(name);
    *column = (struct own_column){table, name, type, behind(type)};
    return true;
}
