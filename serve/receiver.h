/* receiver.h: paths to which programs send profiles (clear serve --receive). The server's thread reads the headers and collects the body; what is in
 * it is read and stored by a command of clear, one at a time, since the file has one writer. Private to serve/. */
#ifndef CLEAR_SERVE_RECEIVER_H
#define CLEAR_SERVE_RECEIVER_H

#include "serve/exchange.h"

enum { RECEIVE_MAX = 32 << 20 /* bytes of a body, as it comes */ };
#define RECEIVING_MAX ((size_t)256 << 20) /* bytes of all bodies that are being collected */

/* Of the path of a request: RECEIVE_NONE where it is none of these. */
enum receive_protocol receive_protocol_of(const char *uri);
const struct route *receive_route(enum receive_protocol protocol);
/* The headers are there: the body begins with the envelope (ingest/receive/envelope.h). With a reply where the request is refused before its
 * body comes. */
void receive_begin(struct exchange *exchange);
/* A piece of the body. What is too much is passed over, so that the client reads why, and the reply is there. */
void receive_take(struct exchange *exchange, const char *bytes, size_t size);
/* The body is no more in the server's memory, or is given up. */
void receive_forget(struct exchange *exchange);
/* The reply to an error, in the form of the protocol. */
void receive_error(struct exchange *exchange, unsigned status, const char *message);

#endif
