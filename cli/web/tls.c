#include "cli/web/tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A PEM file, a few KB; free() it. NULL with the error set. */
static char *read_pem(const char *option, const char *path, struct error *err) {
    enum { PEM_MAX = 1 << 20 };
    FILE *file = fopen(path, "re");
    char *text = xcalloc(1, PEM_MAX + 1);
    if (file && fread(text, 1, PEM_MAX, file) > 0) {
        fclose(file);
        return text;
    }
    error_usage(err, "%s %s: %s", option, path, file ? "the file is empty" : strerror(errno));
    if (file) fclose(file);
    free(text);
    return NULL;
}

int tls_read(struct tls_texts *texts, const char *tls_cert, const char *tls_key, struct error *err) {
    *texts = (struct tls_texts){0};
    if (!tls_cert != !tls_key) return error_usage(err, "--tls-cert and --tls-key need each other");
    if (!tls_cert) return 0;
    texts->certificate = read_pem("--tls-cert", tls_cert, err);
    if (texts->certificate) texts->key = read_pem("--tls-key", tls_key, err);
    return texts->key ? 0 : -1;
}

void tls_free(struct tls_texts *texts) {
    if (texts->key) explicit_bzero(texts->key, strlen(texts->key));
    free(texts->certificate);
    free(texts->key);
    *texts = (struct tls_texts){0};
}
