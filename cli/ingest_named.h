/* ingest_named.h: reads a profile that holds addresses only together with the program that they are of. */
#ifndef CLEAR_CLI_INGEST_NAMED_H
#define CLEAR_CLI_INGEST_NAMED_H

#include "ingest/read/ingest.h"

/* As ingest_path, of a file in one of pprof's formats. `binary` takes the place of the profile's first mapping, and names the addresses
 * there; those of other mappings are named by their own files (cli/name_addresses.h). A failure where nothing was named, and for files
 * of other formats, which have names or find them. What it read is another file than the one without names: both may be in a warehouse. */
int ingest_named(struct ingest *ingest, const char *binary, const char *path, struct ingest_result *result,
                 struct error *err);

#endif
