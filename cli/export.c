#include "export/export.h"
#include "cli/cli.h"
#include "cli/target.h"
#include "query/select.h"

struct export_options {
    const char *db, *kind, *sql, *output, *run;
};

static int read_options(int argc, char **argv, struct export_options *options, struct error *err) {
    enum { DB = CLI_LONG, KIND, SQL };
    static const struct option longs[] = {{"db", required_argument, NULL, DB},
                                          {"kind", required_argument, NULL, KIND},
                                          {"sql", required_argument, NULL, SQL},
                                          {"output", required_argument, NULL, 'o'},
                                          {0}};
    int option;
    while ((option = cli_option(argc, argv, "o:", longs, err)) != CLI_END) {
        switch (option) {
        case DB: options->db = optarg; break;
        case KIND: options->kind = optarg; break;
        case SQL: options->sql = optarg; break;
        case 'o': options->output = optarg; break;
        default: return -1;
        }
    }
    if (optind < argc && !options->sql) options->run = argv[optind++];
    return cli_no_more(argc, argv, err);
}

static int check_options(const struct export_options *options, struct error *err) {
    if (options->sql && options->kind)
        return error_usage(err, "--sql and --kind exclude each other: the query says what is exported");
    if (!options->sql && !options->kind)
        return error_usage(err, "what to export? Give --kind heap, --kind lock, ..., or --sql 'SELECT trace_id, ...'");
    if (!options->output || !*options->output)
        return error_usage(err, "where to write? Give -o FILE, as in -o %s.pb.gz, or -o - for standard output",
                           options->kind ? options->kind : "query");
    return 0;
}

static int write_profile(struct db *db, const struct export_options *options, struct error *err) {
    int64_t run_id;
    if (options->sql) return export_sql(db, options->sql, options->output, err);
    if (select_run(db, options->run, &run_id, err) < 0) return -1;
    return export_run(db, run_id, options->kind, options->output, err);
}

int command_export(int argc, char **argv, struct error *err) {
    struct export_options options = {0};
    struct db db;
    if (read_options(argc, argv, &options, err) < 0 || check_options(&options, err) < 0) return -1;
    if (target_open(&db, options.db, "", &options.run, 1, err) < 0) return -1;
    int code = write_profile(&db, &options, err);
    return db_close(&db, err) < 0 ? -1 : code;
}
