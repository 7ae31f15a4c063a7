/* stripped.h: what would name the places of a stripped binary. */
#ifndef CLEAR_CLI_REPORT_STRIPPED_H
#define CLEAR_CLI_REPORT_STRIPPED_H

#include "query/profile/model.h"

/* Prints a line where a tenth of a profile's places or more, and three or more, are of one binary without symbols for them (`sqlite3+0x1f40`,
 * ingest/symbols/symbolize.h): which debug package has them; where the file is of no package (owning_package.h), how it is built with names. */
void stripped_say(const struct profile *profile);
/* The same line about the binary `file`; `what` has addresses for names: "2 warnings". */
void stripped_say_file(const char *file, const char *what);

#endif
