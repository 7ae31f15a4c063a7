/* merge_texts.h: what people wrote in another warehouse: tags, labels, pins of runs that are here too, saved queries, views, accepted
 * changes. What is here stays; what differs is told. */
#ifndef CLEAR_INGEST_READ_WAREHOUSE_MERGE_TEXTS_H
#define CLEAR_INGEST_READ_WAREHOUSE_MERGE_TEXTS_H

#include "ingest/read/warehouse/merge.h"

/* Of run `there` of the source, which is run `here`: tags and pin that it does not have here, and a label if it has none. */
int merge_known_run(struct merge *merge, struct db *source, int64_t there, int64_t here, struct error *err);

/* Saved queries, users' views and accepted changes. A view comes as text, if that is one CREATE VIEW of its name, and is not run. */
int merge_texts(struct merge *merge, struct db *source, struct merge_result *result, struct error *err);

#endif
