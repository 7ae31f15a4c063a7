/* line_addresses.h: the addresses of a profile with their values, and which of them a pattern asks for: part of line_code. */
#ifndef CLEAR_QUERY_REPORT_LINE_ADDRESSES_H
#define CLEAR_QUERY_REPORT_LINE_ADDRESSES_H

#include "base/map.h"
#include "query/profile/pattern.h"
#include "query/report/report.h"

struct line_address {
    uint32_t file;     /* the first mapping of its file and build; PROFILE_NONE none */
    uint32_t location; /* the first one there */
    uint64_t address;
    int64_t flat, cum;
    bool is_wanted;
    bool is_synthetic; /* the profile has no address; this one is above all mappings */
    size_t stamp;      /* while summing: the sample that counted it last, plus 1 */
};

struct line_addresses {
    struct line_address *items; /* by file and address */
    size_t count;
};

/* `interest` gets the names of the functions that match, both kinds; `readable` the name for people of each linked name. */
void line_addresses_find(struct line_addresses *addresses, const struct report *report, struct pattern *pattern,
                         struct map *interest, struct map *readable);
void line_addresses_free(struct line_addresses *addresses);
/* The values of what is in [address, address + length) of the file. */
void line_addresses_sum(const struct line_addresses *addresses, uint32_t file, uint64_t address, uint64_t length,
                        int64_t *flat, int64_t *cum, bool *overflows);

#endif
