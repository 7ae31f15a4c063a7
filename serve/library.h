/* library.h: loads libmicrohttpd when a server starts, and not before.
 *
 * Debian's libmicrohttpd is linked with GnuTLS. With its nine libraries the start of every `clear` command took 2.8 ms instead of
 * 1.7 ms (perf stat, 200 runs each). So clear is not linked with it: calls go through `http`, which library_load fills. */
#ifndef CLEAR_SERVE_LIBRARY_H
#define CLEAR_SERVE_LIBRARY_H

#include <microhttpd.h>

#include "base/error.h"

#define HTTP_FUNCTIONS(X)                                                                                              \
    X(start_daemon, MHD_start_daemon)                                                                                  \
    X(stop_daemon, MHD_stop_daemon)                                                                                    \
    X(quiesce_daemon, MHD_quiesce_daemon)                                                                              \
    X(run, MHD_run)                                                                                                    \
    X(get_timeout, MHD_get_timeout)                                                                                    \
    X(get_daemon_info, MHD_get_daemon_info)                                                                            \
    X(get_connection_info, MHD_get_connection_info)                                                                    \
    X(get_connection_values, MHD_get_connection_values)                                                                \
    X(suspend_connection, MHD_suspend_connection)                                                                      \
    X(resume_connection, MHD_resume_connection)                                                                        \
    X(create_response_from_buffer, MHD_create_response_from_buffer)                                                    \
    X(create_response_from_callback, MHD_create_response_from_callback)                                                \
    X(add_response_header, MHD_add_response_header)                                                                    \
    X(queue_response, MHD_queue_response)                                                                              \
    X(destroy_response, MHD_destroy_response)

struct http_library {
#define HTTP_MEMBER(name, symbol) __typeof__(&symbol) name;
    HTTP_FUNCTIONS(HTTP_MEMBER)
#undef HTTP_MEMBER
};
extern struct http_library http;

/* It stays loaded until the process ends. If it is not installed, the failure names the package. */
int library_load(struct error *err);

#endif
