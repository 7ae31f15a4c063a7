/* model.h: a finished profile as the formats other than pprof read it: the messages of profile.proto, with the look-ups that
 * all of them need. Built from the very bytes that pprof would get. */
#ifndef CLEAR_EXPORT_MODEL_H
#define CLEAR_EXPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/units.h"
#include "profile.pb-c.h"

typedef Perftools__Profiles__Sample model_sample;
typedef Perftools__Profiles__Label model_label;

/* What a person sees as one frame: a function at a line, and where it is. */
struct model_frame {
    const char *name;   /* of the function; module+0xOFFSET or 0xADDRESS where it has none */
    uint32_t name_id;   /* equal names have equal ids, from 0 */
    const char *file;   /* source file, "" unknown */
    const char *module; /* "" unknown */
    int64_t line;       /* 0 unknown */
    uint64_t address;   /* 0 unknown */
    bool inlined;       /* into the frame after it */
};

struct model {
    Perftools__Profiles__Profile *profile;
    size_t type; /* the value that formats with a single one show */
    struct model_frame *frames;
    size_t frame_count;
    size_t *first_frames; /* [location id]: its first in `frames`; one more than there are locations */
    struct map names;     /* name -> name_id */
    bool has_base;        /* some sample is marked pprof::base */
    struct arena texts;
};

/* `type` is the name of a sample type, or TYPE/UNIT; NULL is the profile's default, else the last, as pprof chooses. One that
 * is not there is a usage error. */
int model_open(struct model *model, const struct buffer *bytes, const char *type, struct error *err);
void model_free(struct model *model);

const char *model_text(const struct model *model, int64_t index);
const char *model_type_name(const struct model *model, size_t type);
const char *model_type_unit(const struct model *model, size_t type);
/* Fills `stack` with indices (uint32_t) into `frames`, leaf first, and gives their count. */
size_t model_stack(const struct model *model, const model_sample *sample, struct buffer *stack);
bool model_is_base(const struct model *model, const model_sample *sample);
/* A value for people: with its unit where the unit is known (bytes, nanoseconds), else with thousands separated. */
struct units_text model_value_text(const struct model *model, int64_t value);

#endif
