/* cli.h: what every command shares: its table row, options, help, numbers with units, the database's name.
 *
 * A command is a function of cli/NAME.c and one row of the table in cli/main.c. It reads its own options, refuses what
 * is left over before any work is done, and calls downwards. argv[0] is the command's name. It returns the exit status
 * (>= 0), or -1 with the error set: main prints `clear: MESSAGE` and chooses the status. */
#ifndef CLEAR_CLI_CLI_H
#define CLEAR_CLI_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "schema/config.h"
#include "schema/db.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv, struct error *err);
    const char *help;  /* one line, no full stop */
    const char *usage; /* "usage: clear NAME ...\n" and all that follows; every option that exists stands in it */
};
extern const struct command commands[]; /* ends with a NULL name */

int command_profile(int argc, char **argv, struct error *err);
int command_ingest(int argc, char **argv, struct error *err);
int command_runs(int argc, char **argv, struct error *err);
int command_query(int argc, char **argv, struct error *err);
int command_export(int argc, char **argv, struct error *err);
int command_schema(int argc, char **argv, struct error *err);
int command_shell(int argc, char **argv, struct error *err);
int command_serve(int argc, char **argv, struct error *err);
int command_doctor(int argc, char **argv, struct error *err);
int command_report(int argc, char **argv, struct error *err);
int command_top(int argc, char **argv, struct error *err);
int command_tree(int argc, char **argv, struct error *err);
int command_peek(int argc, char **argv, struct error *err);
int command_list(int argc, char **argv, struct error *err);
int command_help(int argc, char **argv, struct error *err);
int command_version(int argc, char **argv, struct error *err);

/* The command of that name or unique prefix, or NULL with a usage error that names the candidates or the nearest. */
const struct command *cli_find(const char *name, struct error *err);
void cli_print_help(FILE *out); /* all commands, a line each */

/* The next option, as getopt_long finds it: its value (a letter, or what `longs` says, > 0), with optarg and optind as
 * usual; CLI_END after the last one; -1 with a usage error. --help and -h belong to every command: they print its usage
 * and give -1 with no error set, so that `if (option < 0) return -1;` is right for both (main exits 0). --config belongs
 * to every command as well. Before CLI_END the configuration is read, but for help and version; what is wrong in it is a
 * failure.
 * `letters` as for getopt, with a leading '+' where options must end at the first argument that is none; start
 * with optind = 0. `longs` may be NULL. */
enum { CLI_END = 0, CLI_LONG = 256 /* first value for options without a letter */ };
int cli_option(int argc, char **argv, const char *letters, const struct option *longs, struct error *err);
/* 0, or a usage error where arguments are left after optind. */
int cli_no_more(int argc, char **argv, struct error *err);

/* The configuration: of --config, else the one that is found (schema/config.h); empty where there is none. */
int cli_load_config(const char *path, struct error *err);
int cli_find_config(struct error *err);
const struct config *cli_config(void);
/* The value of one of its tags: the text, or what git says where that is auto. NULL: git has none. free() it. */
char *cli_tag_value(const struct config_pair *tag);

/* The warehouse: what --db said (may be NULL), else $CLEAR_DB, else the configuration's, else runs.sqlite. */
const char *cli_database(const char *option);
/* db_open of it, with the configuration's thresholds and queries in force. */
int cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err);

/* Numbers with units. `name` is what the message calls it ("--depth"). Out of range or not a number: a usage error.
 *   count    1000, 10k, 5M
 *   bytes    4096, 512KiB, 1M, 2GB (K, KB and KiB are all 1024)
 *   duration 1, 0.5, 250ms, 2s, 5m, 1h (no unit is seconds), in nanoseconds */
int cli_count(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int cli_bytes(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int cli_duration(const char *name, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns, struct error *err);

#endif
