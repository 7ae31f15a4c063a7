/* rules_text.h: the rules of `clear gate` in a warehouse, as a table for people or as a JSON array. */
#ifndef CLEAR_QUERY_GATE_RULES_TEXT_H
#define CLEAR_QUERY_GATE_RULES_TEXT_H

#include "base/buffer.h"
#include "schema/db.h"

int rules_text(struct db *db, bool is_json, struct buffer *out, struct error *err);

#endif
