/* thread_labels.h: the labels of samples of one thread. */
#ifndef CLEAR_INGEST_READ_PERF_THREAD_LABELS_H
#define CLEAR_INGEST_READ_PERF_THREAD_LABELS_H

#include "ingest/read/perf/recording.h"
#include "ingest/writer/row_writer.h"

enum { PERF_THREAD_LABELS = 3 };

/* Writes up to PERF_THREAD_LABELS labels and returns their number: mode (user or kernel, where the event says), thread (its name, if
 * it has one) and tid. `comm`: its number in recording->comms. Free *name when the labels are no longer needed. */
size_t perf_thread_labels(const struct perf_recording *recording, uint32_t comm, uint32_t tid, uint32_t mode,
                          struct writer_label *labels, char **name);

#endif
