#include "ingest/record/supervisor_link.h"

#include <errno.h>
#include <sys/socket.h>

void link_tell(int link, const struct link_message *message) {
    ssize_t size;
    do
        size = send(link, message, sizeof *message, MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
}

int link_take(int link, struct link_message *message) {
    ssize_t size;
    do
        size = recv(link, message, sizeof *message, MSG_DONTWAIT);
    while (size < 0 && errno == EINTR);
    if (size == (ssize_t)sizeof *message) return 1;
    return size < 0 && errno == EAGAIN ? 0 : -1;
}
