#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 128, PORT_MAX = 65535, HOST_MAX = 255 };

static bool is_number(const char *text) {
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* Splits HOST:PORT; `port` is "" if there is none. 0, or -1 if a bracket is not closed. */
static int split(const char *text, char **host, const char **port) {
    const char *colon = strrchr(text, ':');
    *port = "";
    if (*text == '[') {
        const char *end = strchr(text, ']');
        if (!end || (end[1] && end[1] != ':')) return -1;
        *host = xasprintf("%.*s", (int)(end - text - 1), text + 1);
        if (end[1]) *port = end + 2;
    } else if (colon && strchr(text, ':') == colon) {
        *host = xasprintf("%.*s", (int)(colon - text), text);
        *port = colon + 1;
    } else {
        *host = xstrdup(text); /* a name, or a bare IPv6 address */
    }
    return 0;
}

static bool is_loopback(const struct sockaddr_storage *socket) {
    if (socket->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)socket)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    const struct in6_addr *address = &((const struct sockaddr_in6 *)socket)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(address)) return address->s6_addr[12] == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(address);
}

static int resolve(struct address *address, const char *text, struct error *err) {
    struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM};
    char service[8];
    snprintf(service, sizeof service, "%d", address->port);
    int code = getaddrinfo(address->host, service, &hints, &found);
    if (code) return error_usage(err, "--http %s: %s: %s", text, address->host, gai_strerror(code));
    memcpy(&address->socket, found->ai_addr, found->ai_addrlen);
    address->size = found->ai_addrlen;
    freeaddrinfo(found);
    address->is_loopback = is_loopback(&address->socket);
    return 0;
}

int address_read(struct address *address, const char *text, bool anywhere, struct error *err) {
    const char *port;
    *address = (struct address){.port = ADDRESS_PORT};
    if (split(text, &address->host, &port)) return error_usage(err, "--http: '%s' is not HOST:PORT", text);
    if (!*port && is_number(address->host)) { /* only a port */
        port = text;
        *address->host = '\0';
    }
    if (*port && (!is_number(port) || strlen(port) > 5 || atoi(port) > PORT_MAX))
        return error_usage(err, "--http %s: a port is a number from 0 to %d", text, PORT_MAX);
    if (*port) address->port = atoi(port);
    if (!*address->host) {
        free(address->host);
        address->host = xstrdup("127.0.0.1");
    }
    if (resolve(address, text, err)) return -1;
    if (address->is_loopback || anywhere) return 0;
    return error_usage(
        err,
        "--http %s: everybody who can reach this machine could read its profiles, with function names, files "
        "and command lines; to allow that, give --http-anywhere",
        text);
}

void address_free(struct address *address) {
    free(address->host);
    *address = (struct address){0};
}

static int port_of(const struct sockaddr_storage *socket) {
    return ntohs(socket->ss_family == AF_INET ? ((const struct sockaddr_in *)socket)->sin_port
                                              : ((const struct sockaddr_in6 *)socket)->sin6_port);
}

int address_listen(struct address *address, struct error *err) {
    const int yes = 1;
    int listener = socket(address->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof address->socket;
    if (listener >= 0) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address->socket, address->size) ||
        listen(listener, BACKLOG) || getsockname(listener, (struct sockaddr *)&address->socket, &size)) {
        int why = errno;
        if (listener >= 0) close(listener);
        return error_fail(err, "--http %s:%d: %s%s", address->host, address->port, strerror(why),
                          why == EADDRINUSE ? "; port 0 takes a free one" : "");
    }
    address->port = port_of(&address->socket);
    return listener;
}

char *address_url(const struct address *address, const char *scheme) {
    return xasprintf(strchr(address->host, ':') ? "%s://[%s]:%d" : "%s://%s:%d", scheme, address->host, address->port);
}

static bool is_own_name(const struct address *address, const char *name) {
    static const char *const always[] = {"localhost", "127.0.0.1", "::1"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcasecmp(name, always[i]) == 0) return true;
    if (strcasecmp(name, address->host) == 0) return true;
    if (address->is_loopback) return false;
    /* The server has other addresses and names than the given one, which may be 0.0.0.0. A bare address needs no DNS, so DNS
     * rebinding cannot use it. */
    char own[HOST_NAME_MAX + 1] = "";
    struct in6_addr ignored;
    gethostname(own, sizeof own - 1);
    return strcasecmp(name, own) == 0 || inet_pton(AF_INET, name, &ignored) == 1 ||
           inet_pton(AF_INET6, name, &ignored) == 1;
}

bool address_is_named(const struct address *address, const char *header) {
    char *name;
    const char *port;
    if (!*header || strlen(header) > HOST_MAX || split(header, &name, &port)) return false;
    bool is_named = (!*port || is_number(port)) && is_own_name(address, name);
    free(name);
    return is_named;
}
