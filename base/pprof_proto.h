/* pprof_proto.h: the numbers of fields of profile.proto that are written or read field by field, and not by generated code. */
#ifndef CLEAR_BASE_PPROF_PROTO_H
#define CLEAR_BASE_PPROF_PROTO_H

/* Profile */
enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_DROP_FRAMES,
    PROFILE_KEEP_FRAMES,
    PROFILE_TIME,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT_TYPE,
    PROFILE_DOC_URL,
};

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };     /* Sample */
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT }; /* Label */

#endif
