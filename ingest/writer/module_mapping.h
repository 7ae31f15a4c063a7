/* module_mapping.h: the row of a mapping whose names come from an ELF file. */
#ifndef CLEAR_INGEST_WRITER_MODULE_MAPPING_H
#define CLEAR_INGEST_WRITER_MODULE_MAPPING_H

#include "ingest/symbols/symbolize.h"
#include "ingest/writer/row_writer.h"

/* The segment of the file, and what the file can name: functions with symbols; files, lines and inlined frames with DWARF.
 * Texts are not copied; `build_id` may be NULL. */
struct writer_mapping module_mapping(struct symbolizer_module *module, const struct symbol_segment *segment,
                                     const char *filename, const char *build_id);

#endif
