#include "ingest/read/perf/thread_labels.h"

#include <stdlib.h>
#include <string.h>

static const char *mode_name(uint32_t mode) {
    switch (mode) {
    case PERF_MODE_KERNEL:
    case PERF_MODE_GUEST_KERNEL: return "kernel";
    case PERF_MODE_USER:
    case PERF_MODE_GUEST_USER: return "user";
    case PERF_MODE_HYPERVISOR: return "hypervisor";
    default: return NULL;
    }
}

size_t perf_thread_labels(const struct perf_recording *recording, uint32_t comm, uint32_t tid, uint32_t mode,
                          struct writer_label *labels, char **name) {
    const struct map_entry *entry = &recording->comms.entries[comm];
    size_t count = 0;
    *name = xmalloc(entry->size + 1);
    memcpy(*name, entry->key, entry->size);
    (*name)[entry->size] = '\0';
    if (mode_name(mode)) labels[count++] = (struct writer_label){.key = "mode", .text = mode_name(mode)};
    if (entry->size) labels[count++] = (struct writer_label){.key = "thread", .text = *name};
    if (tid != UINT32_MAX) labels[count++] = (struct writer_label){.key = "tid", .number = tid};
    return count;
}
