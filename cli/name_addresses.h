/* name_addresses.h: names for a profile that holds addresses only, from the binaries of its mappings, where and as pprof looks for them
 * (query/code/binary.h). What the warehouse has stays as it came: a report names its own copy. */
#ifndef CLEAR_CLI_NAME_ADDRESSES_H
#define CLEAR_CLI_NAME_ADDRESSES_H

#include "base/error.h"
#include "ingest/read/fetch.h"
#include "ingest/symbols/symbolize.h"
#include "query/profile/model.h"

/* Zeroed: names of local binaries for what has none, and nothing is said of binaries that are not there. */
struct address_naming {
    bool is_off;    /* none, remote: no binary is read */
    bool is_remote; /* remote: the server of the profile is asked (cli/remote_names.h) */
    bool is_fast;   /* fastlocal: functions alone */
    bool is_force;  /* also what has names already */
    bool is_told;   /* say which binaries could not be read */
    bool has_form;  /* demangle=FORM: all functions anew */
    enum symbol_form form;
    /* Of is_remote: the URL from which all of the profile came; NULL: from several, or from files. And how URLs are fetched. */
    const char *url;
    const struct fetch_options *fetch;
};

/* MODE of -symbolize, as pprof takes it: none, local, fastlocal, remote, force, demangle=FORM, several with colons between. A usage
 * error for another word. */
int address_naming_read(struct address_naming *naming, const char *text, struct error *err);

/* Gives lines and functions to locations without any, with is_force to all, of mappings whose binary is there with the right build id.
 * An address that no symbol covers stays without. For struct report_overrides; `context` is the struct address_naming. */
void name_addresses(void *context, struct profile *profile);

/* The locations of a mapping that have no name. */
size_t count_nameless(const struct profile *profile, uint32_t mapping);

#endif
