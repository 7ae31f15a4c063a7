#include <elfutils/version.h>
#include <protobuf-c/protobuf-c.h>
#include <sqlite3.h>
#include <yaml.h>
#include <zlib.h>

#include "cli/cli.h"
#include "schema/schema.h"

const struct option_group version_options[] = {CLI_OPTIONS_END};

int command_version(int argc, char **argv, struct error *err) {
    if (cli_options(&argc, argv, NULL, err) < 0 || cli_at_most(0, argc, argv, err) < 0) return -1;
    printf("clear %s\n", CLEAR_VERSION);
    printf("sqlite %s, zlib %s, protobuf-c %s, libyaml %s, elfutils 0.%d\n", sqlite3_libversion(), zlibVersion(),
           protobuf_c_version(), yaml_get_version_string(), _ELFUTILS_VERSION);
    printf("built with %s %s; warehouse schema %d\n",
#ifdef __clang__
           "clang", __clang_version__,
#else
           "gcc", __VERSION__,
#endif
           SCHEMA_VERSION);
    return 0;
}
