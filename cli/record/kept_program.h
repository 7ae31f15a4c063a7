/* kept_program.h: the program of a source in CLEAR stays in the working directory, as CLEAR's own command leaves it: `clear profile
 * foo.cht` makes ./foo, for `go tool pprof ./foo foo.profile/cpu.pb.gz`. */
#ifndef CLEAR_CLI_RECORD_KEPT_PROGRAM_H
#define CLEAR_CLI_RECORD_KEPT_PROGRAM_H

#include "cli/record/profile_program.h"

/* Of any other target nothing is done. Only a program (ELF) is replaced; what else has the name stays, with a message, and is no failure. */
void kept_program_leave(const struct profile_target *target, bool is_quiet);

#endif
