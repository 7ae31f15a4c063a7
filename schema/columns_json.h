/* columns_json.h: the tables and views of a warehouse with what their comments say, for programs. */
#ifndef CLEAR_SCHEMA_COLUMNS_JSON_H
#define CLEAR_SCHEMA_COLUMNS_JSON_H

#include "base/buffer.h"
#include "schema/db.h"

/* Appends [{"name", "type": "table" or "view", "comment", "columns": [{"name", "unit", "comment"}]}, ...]. Comments are those of the
 * SQL text, in the form that schema/document-columns.awk checks; what has none has empty texts. */
int columns_json(struct db *db, struct buffer *json, struct error *err);

#endif
