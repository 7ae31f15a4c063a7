/* sent_labels.h: the labels of a profile of Pyroscope, and which run they mean. */
#ifndef CLEAR_INGEST_RECEIVE_SENT_LABELS_H
#define CLEAR_INGEST_RECEIVE_SENT_LABELS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "ingest/writer/run_tags.h"

struct sent_labels {
    struct run_tags tags; /* all but those that begin with two underscores, which are Pyroscope's own */
    const char *service, *host,
        *profile;         /* texts of the tags, or of `name`; profile: the label __name__; NULL: not said */
    char *name;           /* owned */
    struct buffer series; /* a comment, the same for equal labels: labels: {a="b", …} */
};

void labels_add(struct sent_labels *labels, const char *key, const char *value);
/* "app.cpu{env=staging,region=\"eu\"}" adds all of it. False, with what is wrong in `why`, where it has not that form. */
bool labels_parse(struct sent_labels *labels, const char *text, const char **why);
/* After the last one: finds service and host. */
void labels_end(struct sent_labels *labels);
void labels_free(struct sent_labels *labels);

#endif
