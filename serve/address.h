/* address.h: the address that a server listens on, and the names that it accepts in Host headers.
 *
 *   HOST:PORT, [V6]:PORT, HOST, :PORT, PORT     HOST is 127.0.0.1 by default, PORT is 6060; PORT 0 is any free port
 *
 * The Host header is checked because of DNS rebinding: a hostile site can point its name at 127.0.0.1, and the browser then takes our
 * answers for the site's own. Such a request has the site's name in its Host header, so requests that do not name an address or a
 * name of this server are refused. */
#ifndef CLEAR_SERVE_ADDRESS_H
#define CLEAR_SERVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

enum { ADDRESS_PORT = 6060 }; /* as in every example of net/http/pprof */

struct address {
    char *host; /* as given, without brackets */
    int port;   /* 0: any; the real one after address_listen */
    struct sockaddr_storage socket;
    socklen_t size;
    bool is_loopback;
};

/* An address that other machines can reach is a usage error without `anywhere`. Call address_free after a failure too. */
int address_read(struct address *address, const char *text, bool anywhere, struct error *err);
void address_free(struct address *address);

/* A listening socket, non-blocking and close-on-exec, or -1 with the error set. */
int address_listen(struct address *address, struct error *err);
/* "http://127.0.0.1:6060" of the scheme "http"; free() it. */
char *address_url(const struct address *address, const char *scheme);
/* True if a Host header names this server. */
bool address_is_named(const struct address *address, const char *header);

#endif
