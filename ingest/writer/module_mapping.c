#include "ingest/writer/module_mapping.h"

struct writer_mapping module_mapping(struct symbolizer_module *module, const struct symbol_segment *segment,
                                     const char *filename, const char *build_id) {
    bool has_lines = symbolizer_has_lines(module);
    return (struct writer_mapping){.filename = filename,
                                   .build_id = build_id,
                                   .memory_start = segment->start,
                                   .memory_limit = segment->limit,
                                   .file_offset = segment->offset,
                                   .has_functions = symbolizer_has_symbols(module),
                                   .has_filenames = has_lines,
                                   .has_line_numbers = has_lines,
                                   .has_inline_frames = has_lines};
}
