#include "cli/record/profile_program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/cli.h"
#include "ingest/record/recordable.h"

/* The directory of the configuration, which relative commands in it count from. free() it. */
static char *rule_directory(void) {
    const char *path = cli_config()->path;
    char *real = path ? realpath(path, NULL) : NULL;
    if (!real) return getcwd(NULL, 0);
    *strrchr(real, '/') = '\0';
    return real;
}

static int no_rule(const char *source, const char *ending, struct error *err) {
    return error_usage(err,
                       "%s: there is no rule to build a %s file; set one in clear.yaml:  toolchain: {%s: "
                       "\"COMPILER --profile -o {output} {source}\"}",
                       source, ending, ending);
}

/* 1: it is a source file and was built; 0: it is something else; -1: the error is set. */
static int build_source(struct profile_target *target, const char *source, struct error *err) {
    const char *ending = toolchain_ending(source);
    const char *rule = ending ? config_toolchain(cli_config(), ending) : NULL;
    if (ending && !rule && (rule = toolchain_rule(ending))) target->built_by = toolchain_said(ending);
    if (!rule) return ending && toolchain_needs_rule(ending) ? no_rule(source, ending, err) : 0;
    char *directory = rule_directory();
    int code = build_make(&target->build, source, rule, directory, err);
    free(directory);
    return code ? -1 : 1;
}

static char **copy_words(char **words) {
    size_t count = 0;
    while (words[count])
        count++;
    char **copy = xcalloc(count + 1, sizeof *copy);
    memcpy(copy, words, count * sizeof *copy);
    return copy;
}

int profile_target_find(struct profile_target *target, char **words, bool has_perf, bool takes_go, struct error *err) {
    *target = (struct profile_target){.name = path_base(words[0]), .arguments = copy_words(words)};
    target->build.directory = (struct private_dir){.file = -1, .owner = -1};
    int built = build_source(target, words[0], err);
    if (built < 0) return -1;
    if (built) {
        target->name = target->arguments[0] = target->build.name;
        target->program = xstrdup(target->build.program);
    } else {
        target->program = recordable_find(words[0], err);
    }
    target->by_perf.is_accepted = has_perf;
    target->by_perf.takes_go = takes_go;
    return target->program ? recordable_check(target->program, words[0], &target->by_perf, err) : -1;
}

void profile_target_free(struct profile_target *target) {
    if (target->arguments) build_remove(&target->build);
    free(target->program);
    free(target->arguments);
    *target = (struct profile_target){0};
}

struct ingest_program profile_target_program(const struct profile_target *target) {
    return (struct ingest_program){
        .path = target->program, .build_directory = target->build.place, .source = target->build.source};
}
