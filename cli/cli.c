#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* ---- options ---- */

enum { OPTIONS_MAX = 64, OPTION_HELP = 'h', OPTION_CONFIG = CLI_LONG + 1000 };

static int help_of(const char *name) {
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0) fputs(command->usage, stdout);
    return -1;
}

/* getopt_long's table with the options of every command at the end. */
static void with_common(const struct option *longs, struct option *table) {
    size_t count = 0;
    for (; longs && longs[count].name; count++) {
        if (count + 3 >= OPTIONS_MAX) bug("more than %d options", OPTIONS_MAX - 3);
        table[count] = longs[count];
    }
    table[count++] = (struct option){"config", required_argument, NULL, OPTION_CONFIG};
    table[count++] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    table[count] = (struct option){0};
}

/* What getopt refused: `refused` is the word of argv that it stands in. */
static int refuse(const char *refused, int result, const struct option *table, struct error *err) {
    if (optopt > 0 && optopt < CLI_LONG && strncmp(refused, "--", 2) != 0)
        return error_usage(err, result == ':' ? "option -%c needs a value" : "unknown option -%c", optopt);
    int length = (int)strcspn(refused, "=");
    if (result == ':') return error_usage(err, "option %.*s needs a value", length, refused);
    if (optopt > 0) return error_usage(err, "option %.*s takes no value", length, refused);
    int fitting = 0;
    for (const struct option *option = table; option->name; option++)
        fitting += length > 2 && strncmp(option->name, refused + 2, (size_t)length - 2) == 0;
    return error_usage(err, fitting > 1 ? "option %.*s is ambiguous" : "unknown option %.*s", length, refused);
}

/* Help must be had whatever the configuration says. */
static bool needs_config(const char *name) {
    return strcmp(name, "help") != 0 && strcmp(name, "version") != 0;
}

int cli_option(int argc, char **argv, const char *letters, const struct option *longs, struct error *err) {
    struct option table[OPTIONS_MAX];
    char shorts[OPTIONS_MAX];
    with_common(longs, table);
    const char *mode = *letters == '+' ? "+" : "";
    snprintf(shorts, sizeof shorts, "%s:%sh", mode, letters + strlen(mode));
    opterr = 0;
    int result = getopt_long(argc, argv, shorts, table, NULL);
    if (result == OPTION_CONFIG) return cli_load_config(optarg, err) ? -1 : cli_option(argc, argv, letters, longs, err);
    if (result == -1) return !needs_config(argv[0]) || cli_find_config(err) == 0 ? CLI_END : -1;
    if (result == OPTION_HELP) return help_of(argv[0]);
    /* After a bad letter inside a cluster optind still points at the cluster; everywhere else it is one past. */
    if (result == '?' || result == ':') return refuse(argv[optind > 1 ? optind - 1 : 1], result, table, err);
    return result;
}

int cli_no_more(int argc, char **argv, struct error *err) {
    if (optind >= argc) return 0;
    return error_usage(err, "%s does not know what to do with '%s'", argv[0], argv[optind]);
}

/* ---- numbers ---- */

int cli_count(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err) {
    return number_count(name, text, min, max, value, err);
}

int cli_bytes(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err) {
    return number_bytes(name, text, min, max, value, err);
}

int cli_duration(const char *name, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns, struct error *err) {
    return number_duration(name, text, min_ns, max_ns, ns, err);
}
