/* filter.h: narrows a profile (query/profile/model.h) in place, with the meaning that pprof gives to options of the same names.
 * A location is met by a pattern when a function name, file name or the file of its mapping is. */
#ifndef CLEAR_QUERY_PROFILE_FILTER_H
#define CLEAR_QUERY_PROFILE_FILTER_H

#include "query/profile/model.h"
#include "query/profile/pattern.h"

/* What a report or a doctor's flag asks for; NULL or "" asks for nothing. */
struct filter_options {
    const char *focus, *ignore, *show, *hide, *show_from, *prune_from;
    const char *tagfocus, *tagignore, *tagshow, *taghide; /* RE[,RE...], KEY=RE, 128kb:512kb, KEY=1ms: */
    const char *tagroot, *tagleaf;                        /* KEY[,KEY...] */
};

/* A message for people about the filters ("Focus expression matched no samples"), as pprof words it; may be NULL. */
typedef void filter_note(void *context, const char *message);

/* The unit of each key of numeric labels: the first that was met, else guessed from the key. */
struct filter_units {
    struct filter_unit {
        const char *key, *unit;
    } * items;
    size_t count;
};
void filter_units_find(struct filter_units *units, struct profile *profile, filter_note *note, void *context);
const char *filter_units_of(const struct filter_units *units, const char *key); /* "" unknown */
void filter_units_free(struct filter_units *units);

/* Applies drop_frames and keep_frames of the profile; a broken pattern is a failure that shows it. */
int filter_uninteresting(struct profile *profile, struct error *err);

/* Frames KEY: VALUE at the root and the leaf of each stack (tagroot, tagleaf); numbers in `unit`. */
void filter_add_tag_frames(struct profile *profile, const struct filter_options *options, const char *unit,
                           filter_note *note, void *context);

/* focus, ignore, hide, show; show_from; tagfocus, tagignore; tagshow, taghide; prune_from: in this order. */
int filter_apply(struct profile *profile, const struct filter_options *options, const struct filter_units *units,
                 filter_note *note, void *context, struct error *err);

/* The part of it that is about labels: tagfocus, tagignore, tagshow, taghide. */
int filter_by_tags(struct profile *profile, const struct filter_options *options, const struct filter_units *units,
                   filter_note *note, void *context, struct error *err);

/* Drops the samples whose stack is marked: dropped[stack]. */
void filter_drop_samples(struct profile *profile, const bool *dropped);

/* The granularities of a report. All but addresses with inlines give up what sets finer ones apart. */
enum filter_granularity {
    GRANULARITY_DEFAULT, /* none was asked for: functions, unless the report says otherwise. Not of filter_aggregate */
    GRANULARITY_FUNCTIONS,
    GRANULARITY_FILEFUNCTIONS,
    GRANULARITY_FILES,
    GRANULARITY_LINES,
    GRANULARITY_ADDRESSES,
};
void filter_aggregate(struct profile *profile, enum filter_granularity granularity, bool noinlines, bool columns);

#endif
