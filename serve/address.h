/* address.h: where a server listens, and which names it answers to.
 *
 *   HOST:PORT, [V6]:PORT, HOST, :PORT, PORT     no HOST is 127.0.0.1, no PORT is 6060, PORT 0 is any free one
 *
 * A page of a hostile site may make a browser ask for http://its.name/ after that name was pointed at 127.0.0.1: then the
 * browser takes our answers for the site's own. Such a request carries the site's name in its Host header, so requests that
 * do not ask for us by an address or a name of ours are refused. */
#ifndef CLEAR_SERVE_ADDRESS_H
#define CLEAR_SERVE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

enum { ADDRESS_PORT = 6060 }; /* as in every example of net/http/pprof */

struct address {
    char *host; /* as given, without brackets */
    int port;   /* 0: any; the true one after address_listen */
    struct sockaddr_storage socket;
    socklen_t size;
    bool is_loopback;
};

/* An address that others can reach is a usage error but with `anywhere`. Free it in any case. */
int address_read(struct address *address, const char *text, bool anywhere, struct error *err);
void address_free(struct address *address);

/* A listening socket, not blocking and closed on exec, or -1. */
int address_listen(struct address *address, struct error *err);
/* "http://127.0.0.1:6060"; free() it. */
char *address_url(const struct address *address);
/* Whether a Host header names us. */
bool address_is_named(const struct address *address, const char *header);

#endif
