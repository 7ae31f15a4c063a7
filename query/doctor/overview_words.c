/* overview_words.c: what a run's time went to, in one sentence. */
#include "query/doctor/overview.h"

#include <string.h>

#include "base/units.h"

enum { WORTH_PERCENT = 5 }; /* waits of less of the thread time are not told */

static struct units_text share(int64_t part, int64_t whole) {
    return units_percent(whole > 0 ? 100.0 * (double)part / (double)whole : 0);
}

/* By pprof's names of units. */
void overview_note_samples(struct overview *overview, const char *type, const char *unit, int64_t total) {
    bool is_time = strcmp(unit, "nanoseconds") == 0, is_size = strcmp(unit, "bytes") == 0;
    struct units_text text = is_time ? units_ns(total) : is_size ? units_bytes(total) : units_count(total);
    overview->samples_total = total;
    buffer_printf(&overview->samples, "%s: %s in all", type, text.text);
}

/* ", 79 % of it in inflate_fast". */
static void add_top(const struct overview *overview, int64_t whole, struct buffer *words) {
    if (overview->top.size)
        buffer_printf(words, ", %s of it in %s", share(overview->top_value, whole).text, buffer_text(&overview->top));
}

static void add_waits(const struct overview *overview, struct buffer *words) {
    int64_t lives = overview->thread_ns > overview->duration_ns ? overview->thread_ns : overview->duration_ns;
    if (overview->has_lock) return;
    if (!lives || 100.0 * (double)overview->lock_wait_ns < WORTH_PERCENT * (double)lives) return;
    buffer_printf(words, "%s waited for locks for %s", words->size ? "; its threads" : "Threads",
                  units_ns(overview->lock_wait_ns).text);
}

void overview_add_sentence(struct overview *overview) {
    struct buffer words = {0};
    if (overview->has_cpu) {
        if (overview->duration_ns)
            buffer_printf(&words, "In %s it computed for %s", units_ns(overview->duration_ns).text,
                          units_ns(overview->cpu_ns).text);
        else
            buffer_printf(&words, "It computed for %s", units_ns(overview->cpu_ns).text);
        add_top(overview, overview->cpu_ns, &words);
    } else if (overview->samples.size) {
        buffer_add_text(&words, buffer_text(&overview->samples));
        add_top(overview, overview->samples_total, &words);
    } else if (overview->has_lock) {
        buffer_printf(&words, "Threads waited for locks for %s", units_ns(overview->lock_wait_ns).text);
        add_top(overview, overview->lock_wait_ns, &words);
    } else if (overview->alloc_bytes) {
        buffer_printf(&words, "It allocated %s in %s", units_bytes(overview->alloc_bytes).text,
                      units_things(overview->alloc_count, "block").text);
        add_top(overview, overview->alloc_bytes, &words);
    }
    add_waits(overview, &words);
    if (words.size) buffer_add_char(&words, '.');
    buffer_add_text(overview->out, ",\"sentence\":");
    buffer_add_json_text(overview->out, buffer_text(&words));
    buffer_free(&words);
}
