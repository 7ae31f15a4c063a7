#include "query/profile/start_up.h"

#include <string.h>

bool start_up_is_frame(const char *function) {
    static const char *const names[] = {"_start",
                                        "__libc_start_call_main",
                                        "__libc_start_main_impl",
                                        "start_thread",
                                        "clone",
                                        "clone3",
                                        "__clone3",
                                        "thread_start"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(function, names[i]) == 0) return true;
    return strncmp(function, "__libc_start_main", strlen("__libc_start_main")) == 0;
}
