/* remote_names.h: names of addresses from the server that a profile came from, as pprof asks for them: a POST of addresses, 0x1+0x2, to
 * .../debug/pprof/symbol or .../symbolz, which answers with lines `0x1 name`. The answer is foreign input: only what was asked for is taken,
 * and of limited size. */
#ifndef CLEAR_CLI_REMOTE_NAMES_H
#define CLEAR_CLI_REMOTE_NAMES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "ingest/read/fetch.h"

/* Start with a zeroed struct. */
struct remote_names {
    struct map wanted; /* address -> 0, or the name as a pointer */
    struct arena texts;
};

void remote_names_want(struct remote_names *names, uint64_t address);
/* Nothing wanted: nobody is asked. What was answered before a failure stays. `options` may be NULL. */
int remote_names_ask(struct remote_names *names, const char *url, const struct fetch_options *options,
                     struct error *err);
/* Takes the lines of an answer; others than `0xADDRESS name` are passed over, and so is what was not asked for. */
void remote_names_take(struct remote_names *names, const char *answer, size_t size);
/* The name of an address, NULL where there is none. It lives as long as the names. */
const char *remote_name(const struct remote_names *names, uint64_t address);
void remote_names_free(struct remote_names *names);

#endif
