#include "ingest/team/names.h"

#include "schema/schema.h"

const struct name_kind name_kinds[SOURCE_NAMES] = {
    [SOURCE_MAPPING] = {"mappings",
                        "mapping",
                        "merge/mapping.sql",
                        {{"filename", NAME_TEXT},
                         {"build_id", NAME_TEXT},
                         {"memory_start", NAME_INT},
                         {"memory_limit", NAME_INT},
                         {"file_offset", NAME_INT},
                         {"has_functions", NAME_INT},
                         {"has_filenames", NAME_INT},
                         {"has_line_numbers", NAME_INT},
                         {"has_inline_frames", NAME_INT}}},
    [SOURCE_FUNCTION] =
        {"functions",
         "function",
         "team/names/function",
         {{"name", NAME_TEXT}, {"system_name", NAME_TEXT}, {"filename", NAME_TEXT}, {"start_line", NAME_INT}}},
    [SOURCE_LOCATION] = {"locations",
                         "location",
                         "team/names/location",
                         {{"mapping", NAME_KEY, SOURCE_MAPPING},
                          {"address", NAME_INT},
                          {"is_folded", NAME_INT},
                          {"functions", NAME_KEYS, SOURCE_FUNCTION},
                          {"lines", NAME_INTS},
                          {"columns", NAME_INTS}}},
    [SOURCE_TRACE] = {"traces",
                      "stack",
                      "team/names/trace",
                      {{"locations", NAME_KEYS, SOURCE_LOCATION},
                       {"signature", NAME_INT, .is_derived = true},
                       {"shown_location", NAME_KEY, SOURCE_LOCATION, true},
                       {"shown_function", NAME_KEY, SOURCE_FUNCTION, true},
                       {"shown_line", NAME_INT, .is_derived = true}}},
    [SOURCE_LABEL_SET] = {"label_sets", "label set", "team/names/label_set", {{"labels", NAME_TEXT}}},
    [SOURCE_OBJECT] = {"objects",
                       "object",
                       "team/names/object",
                       {{"kind", NAME_TEXT},
                        {"identity", NAME_TEXT},
                        {"name", NAME_TEXT},
                        {"trace", NAME_KEY, SOURCE_TRACE},
                        {"offset", NAME_INT}}},
    [SOURCE_TEXT] = {"source_texts",
                     "source text",
                     "team/names/source_text",
                     {{"hash", NAME_TEXT}, {"text", NAME_TEXT}}},
    [SOURCE_SUBJECT] = {"subjects", "subject", "team/names/subject", {{"name", NAME_TEXT}}},
};

void name_hash(struct content_hash *hash, const struct name_column *column, const struct name_value *value) {
    if (column->is_derived) return;
    if (column->type == NAME_TEXT) {
        content_text(hash, value->text);
    } else if (column->type == NAME_INT || column->type == NAME_KEY) {
        content_int(hash, value->number);
    } else {
        content_int(hash, (int64_t)value->count);
        for (size_t i = 0; i < value->count; i++)
            content_int(hash, value->list[i]);
    }
}

void name_columns_add(struct buffer *sql, const struct name_kind *kind, const char *prefix) {
    for (const struct name_column *column = kind->columns; column->name; column++)
        buffer_printf(sql, "%s%s\"%s\"", column == kind->columns ? "" : ", ", prefix, column->name);
}
