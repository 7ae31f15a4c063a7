#include "ingest/read/readers.h"

const struct format *const formats[] = {
    &format_perf_data, &format_clear_directory, &format_run_text, &format_clear_dump, &format_legacy, &format_chrome,
    &format_go_trace,  &format_folded,          &format_perfetto, &format_otlp,       &format_pprof,  NULL,
};

const struct format *format_find(const struct input *input) {
    for (const struct format *const *format = formats; *format; format++)
        if ((*format)->recognise(input)) return *format;
    return NULL;
}
