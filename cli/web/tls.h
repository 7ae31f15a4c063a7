/* tls.h: the certificate and the key of a server that speaks TLS, for `clear serve` and `clear profile --http`. */
#ifndef CLEAR_CLI_TLS_H
#define CLEAR_CLI_TLS_H

#include <stddef.h>

#include "base/error.h"

/* The options, which set the fields `tls_cert` and `tls_key` (const char *: names of files, or NULL) of a structure. */
#define TLS_OPTIONS(structure)                                                                                         \
    {"tls-cert",         .type = OPTION_TEXT, .offset = offsetof(structure, tls_cert),                                 \
     .argument = "FILE", .words = "<file>",   .help = "Speak TLS, with this certificate and what signed it (PEM)."},   \
    {                                                                                                                  \
        "tls-key", .type = OPTION_TEXT, .offset = offsetof(structure, tls_key), .argument = "FILE", .words = "<file>", \
                   .help = "The key of the certificate (PEM)."                                                         \
    }

struct tls_texts {
    char *certificate, *key; /* PEM; both NULL: no TLS */
};

/* Reads the files, if they are given. tls_free the texts in both cases. A wrong use or a file that cannot be read is a usage error. */
int tls_read(struct tls_texts *texts, const char *tls_cert, const char *tls_key, struct error *err);
void tls_free(struct tls_texts *texts);

#endif
