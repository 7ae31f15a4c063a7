/* cli.h: what all commands share: the table of commands, reading options, the configuration, opening the warehouse.
 *
 * * A command is a function in cli/NAME.c, a row of the table in cli/main.c, a table of options beside the function,
 * and the text cli/manual/NAME.md. It reads its options with cli_options, refuses arguments that are left before it
 * does any work, and calls downwards. argv[0] is the command's name. It returns the exit status (>= 0), or -1 with
 * the error set: main prints `clear: MESSAGE` and chooses the status. */
#ifndef CLEAR_CLI_CLI_H
#define CLEAR_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/option.h"
#include "cli/manual/command.h"
#include "schema/config.h"
#include "schema/db.h"

extern const struct command commands[]; /* cli/main.c; sorted by purpose; ends with a NULL name */

int command_profile(int argc, char **argv, struct error *err);
int command_ingest(int argc, char **argv, struct error *err);
int command_collect(int argc, char **argv, struct error *err);
int command_env(int argc, char **argv, struct error *err);
int command_detach(int argc, char **argv, struct error *err);
int command_recover(int argc, char **argv, struct error *err);
int command_gc(int argc, char **argv, struct error *err);
int command_merge(int argc, char **argv, struct error *err);
int command_push(int argc, char **argv, struct error *err);
int command_pull(int argc, char **argv, struct error *err);
int command_store(int argc, char **argv, struct error *err);
int command_tag(int argc, char **argv, struct error *err);
int command_label(int argc, char **argv, struct error *err);
int command_pin(int argc, char **argv, struct error *err);
int command_reseal(int argc, char **argv, struct error *err);
int command_rm(int argc, char **argv, struct error *err);
int command_runs(int argc, char **argv, struct error *err);
int command_query(int argc, char **argv, struct error *err);
int command_export(int argc, char **argv, struct error *err);
int command_schema(int argc, char **argv, struct error *err);
int command_shell(int argc, char **argv, struct error *err);
int command_serve(int argc, char **argv, struct error *err);
int command_trend(int argc, char **argv, struct error *err);
int command_mcp(int argc, char **argv, struct error *err);
int command_web(int argc, char **argv, struct error *err);
int command_gate(int argc, char **argv, struct error *err);
int command_doctor(int argc, char **argv, struct error *err);
int command_report(int argc, char **argv, struct error *err);
int command_trace(int argc, char **argv, struct error *err);
int command_top(int argc, char **argv, struct error *err);
int command_tree(int argc, char **argv, struct error *err);
int command_peek(int argc, char **argv, struct error *err);
int command_list(int argc, char **argv, struct error *err);
int command_bench(int argc, char **argv, struct error *err);
int command_bisect(int argc, char **argv, struct error *err);
int command_help(int argc, char **argv, struct error *err);
int command_version(int argc, char **argv, struct error *err);

/* The options of each command, declared in its file. */
extern const struct option_group bench_options[], collect_options[], doctor_options[], env_options[], export_options[],
    gc_options[], help_options[], detach_options[], ingest_options[], label_options[], pin_options[], profile_options[],
    query_options[], recover_options[], report_options[], rm_options[], runs_options[], schema_options[],
    serve_options[], shell_options[], tag_options[], trace_options[], version_options[], web_options[];
extern const struct option_group gate_options[];
extern const struct option_group mcp_options[];
extern const struct option_group reseal_options[];
extern const struct option_group merge_options[], pull_options[], push_options[], store_options[];
/* The formats of reports are options too: -top, -peek=RE. */
const struct option_row *report_format_option(const char *name);
extern const struct option_group bisect_options[];

/* The command of that name or unique prefix, or NULL with a usage error that names the candidates or the nearest. */
const struct command *cli_find(const char *name, struct error *err);
extern const struct option_group trend_options[];

/* Reads the options of the command argv[0] into its struct and leaves the other words in argv[1] to argv[*argc - 1]
 * (base/option.h). Then the configuration is read, if the command is not help or version. 0, or -1: with the error
 * set, or without one where --help was given and printed, so that `if (cli_options(...) < 0) return -1;` is right for
 * both. */
int cli_options(int *argc, char **argv, void *options, struct error *err);
/* The name of the command whose options were read last. */
const char *cli_reading(void);
void cli_set_reading(const char *command); /* lives as long as the process */
/* 0, or a usage error if there are more arguments than `most` besides the name. */
int cli_at_most(int most, int argc, char **argv, struct error *err);

/* The groups that many commands have. Every table of options ends with CLI_OPTIONS_END: --config and --help. */
#define CLI_WAREHOUSE(struct_name, member)                                                                             \
    { "Warehouse", cli_warehouse_options, offsetof(struct struct_name, member) }
/* The same of a command that only reads: --db may be the address of a store, of which it reads --project. */
#define CLI_WAREHOUSE_OR_STORE(struct_name, member)                                                                    \
    { "Warehouse", cli_warehouse_or_store_options, offsetof(struct struct_name, member) }
/* The same of a command that changes runs: --db may be a store, whose owner may do that. */
#define CLI_EDITABLE(struct_name, member)                                                                              \
    { "Warehouse", cli_editable_options, offsetof(struct struct_name, member) }
#define CLI_OPTIONS_END                                                                                                \
    {"General", cli_general_options, 0}, {                                                                             \
        0                                                                                                              \
    }
extern const struct option_row cli_warehouse_options[]; /* --db; for a const char *, NULL at first */
extern const struct option_row cli_warehouse_or_store_options[];
extern const struct option_row cli_editable_options[];
extern const struct option_row cli_general_options[];

/* The configuration: the file of --config, or else the one that is found (schema/config.h), or else an empty one. */
int cli_load_config(const char *path, struct error *err);
int cli_find_config(struct error *err);
const struct config *cli_config(void);

/* The path of the warehouse: `option`, the value of --db, if it is not NULL; else $CLEAR_DB, the configuration's,
 * runs.sqlite. */
const char *cli_database(const char *option);
/* The same for users: the address of a store without what is secret. free() it. */
char *cli_shown_database(const char *option);
/* Whether it is the address of a team's store, and no file. */
bool cli_is_store(const char *option);
/* The project of a store: --project, $CLEAR_PROJECT, `default`. */
const char *cli_project(void);
const char *cli_project_or(const char *given); /* of a command that has the option itself: `given`; NULL: as above */
void cli_set_project(const char *name);        /* lives as long as the process */
/* A usage error if it is a store: for what writes. cli_options calls it for commands with CLI_WAREHOUSE. */
int cli_need_file(const char *option, struct error *err);
/* --runs: fetched when a store is opened. */
void cli_set_runs(const char *set);  /* lives as long as the process */
const char *cli_runs_of_store(void); /* NULL: it was not given */
/* For what needs a file: makes `path` a warehouse with the runs of --runs, or else of `set` (NULL: with none), of the store `option`. */
int cli_fetch(const char *option, const char *path, const char *set, struct error *err);
/* A usage error where --runs was given and a word is a file. */
int cli_no_runs_of_file(const char *option, const char *file, struct error *err);
/* A usage error where a command is about all runs of the warehouse, and that is a store of which no run was named. */
int cli_need_runs(struct db *db, struct error *err);
/* A failure if it is the runs.sqlite of another user, which nobody named. */
int cli_check_owner(const char *option, struct error *err);
/* Opens it and applies the configuration's thresholds and queries. db_close it. A store can only be read: the runs come from it when they
 * are chosen by name (ingest/team/team_reader.h). */
int cli_open(struct db *db, const char *option, enum db_mode mode, struct error *err);
/* The same for a caller that waits so long while another process has the file locked. */
int cli_open_within(struct db *db, const char *option, enum db_mode mode, int patience_ms, struct error *err);

/* The same for lists of runs, of which a store then gives only what lists show: rows of `runs`, tags, totals, kinds of profile. */
int cli_open_heads(struct db *db, const char *option, struct error *err);
/* And the view `series`, for `figure` (NULL: all) of the subjects `of` (GLOB; NULL: the whole run). The runs come as a whole where the store has
 * these not as rows. */
int cli_open_figures(struct db *db, const char *option, const char *figure, const char *of, struct error *err);

/* Reads numbers with units. `name` is the name in messages ("--depth"). Out of range or not a number: a usage error.
 *   count    1000, 10k, 5M
 *   bytes    4096, 512KiB, 1M, 2GB (K, KB and KiB are all 1024)
 *   duration 1, 0.5, 250ms, 2s, 5m, 1h, 30d, 4w (no unit is seconds), in nanoseconds */
int cli_count(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int cli_bytes(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err);
int cli_duration(const char *name, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns, struct error *err);

#endif
