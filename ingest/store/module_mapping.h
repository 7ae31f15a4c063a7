/* module_mapping.h: the row of a mapping whose names come from an ELF file. */
#ifndef CLEAR_INGEST_STORE_MODULE_MAPPING_H
#define CLEAR_INGEST_STORE_MODULE_MAPPING_H

#include "ingest/store/store.h"
#include "ingest/symbols/symbolize.h"

/* The segment of the file, and what the file can name: functions with symbols; files, lines and inlined frames with DWARF.
 * Texts are not copied; `build_id` may be NULL. */
struct store_mapping module_mapping(struct symbolizer_module *module, const struct symbol_segment *segment,
                                    const char *filename, const char *build_id);

#endif
