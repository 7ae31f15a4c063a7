/* otlp_proto.h: the numbers of fields of OpenTelemetry's profiles (opentelemetry.proto.profiles.v1development, release 1.11.0) that clear
 * reads and writes, message by message, and how what a profile.proto has no place for is kept beside one.
 *
 * Such a profile has one sample type, and its names, stacks and attributes stand in a dictionary that all profiles of the file share. A
 * profile.proto of N sample types is N of them, which the attribute OTLP_TYPE_ORDER of their scope says belong together. */
#ifndef CLEAR_BASE_OTLP_PROTO_H
#define CLEAR_BASE_OTLP_PROTO_H

enum { OTLP_RESOURCES = 1, OTLP_DICTIONARY = 2 }; /* ProfilesData, and the request of an exporter */

/* ProfilesDictionary. Element 0 of each is the zero value. */
enum otlp_table {
    OTLP_MAPPINGS = 1,
    OTLP_LOCATIONS,
    OTLP_FUNCTIONS,
    OTLP_LINKS,
    OTLP_STRINGS,
    OTLP_ATTRIBUTES,
    OTLP_STACKS,
    OTLP_TABLES_END
};
#define OTLP_TABLE_NAMES                                                                                               \
    {                                                                                                                  \
        NULL, "mapping_table", "location_table", "function_table", "link_table", "string_table", "attribute_table",    \
            "stack_table"                                                                                              \
    }

enum { RESOURCE_RESOURCE = 1, RESOURCE_SCOPES, RESOURCE_SCHEMA };              /* ResourceProfiles */
enum { SCOPE_SCOPE = 1, SCOPE_PROFILES, SCOPE_SCHEMA };                        /* ScopeProfiles */
enum { PART_ATTRIBUTES = 1, SCOPE_NAME = 1, SCOPE_VERSION, SCOPE_ATTRIBUTES }; /* Resource; InstrumentationScope */
enum otlp_profile {
    OTLP_PROFILE_TYPE = 1,
    OTLP_PROFILE_SAMPLES,
    OTLP_PROFILE_TIME, /* fixed64 */
    OTLP_PROFILE_DURATION,
    OTLP_PROFILE_PERIOD_TYPE,
    OTLP_PROFILE_PERIOD,
    OTLP_PROFILE_ID,
    OTLP_PROFILE_DROPPED,
    OTLP_PROFILE_PAYLOAD_FORMAT,
    OTLP_PROFILE_PAYLOAD,
    OTLP_PROFILE_ATTRIBUTES
};
enum { OTLP_TYPE_NAME = 1, OTLP_TYPE_UNIT };
enum { OTLP_SAMPLE_STACK = 1, OTLP_SAMPLE_ATTRIBUTES, OTLP_SAMPLE_LINK, OTLP_SAMPLE_VALUES, OTLP_SAMPLE_TIMES };
enum { OTLP_STACK_LOCATIONS = 1 };
enum { OTLP_LOCATION_MAPPING = 1, OTLP_LOCATION_ADDRESS, OTLP_LOCATION_LINES, OTLP_LOCATION_ATTRIBUTES };
enum { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE, OTLP_LINE_COLUMN };
enum { OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME, OTLP_FUNCTION_FILE, OTLP_FUNCTION_START };
enum { OTLP_MAPPING_START = 1, OTLP_MAPPING_LIMIT, OTLP_MAPPING_OFFSET, OTLP_MAPPING_FILE, OTLP_MAPPING_ATTRIBUTES };
enum { OTLP_LINK_TRACE = 1, OTLP_LINK_SPAN, OTLP_TRACE_SIZE = 16, OTLP_SPAN_SIZE = 8 };
enum { OTLP_ATTRIBUTE_KEY = 1, OTLP_ATTRIBUTE_VALUE, OTLP_ATTRIBUTE_UNIT }; /* KeyValueAndUnit */
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE, KEY_VALUE_KEY_INDEX };           /* KeyValue */
enum otlp_value {                                                           /* AnyValue */
                  OTLP_VALUE_NONE,
                  OTLP_VALUE_TEXT,
                  OTLP_VALUE_BOOL,
                  OTLP_VALUE_INT,
                  OTLP_VALUE_DOUBLE,
                  OTLP_VALUE_ARRAY,
                  OTLP_VALUE_LIST,
                  OTLP_VALUE_BYTES,
                  OTLP_VALUE_TEXT_INDEX
};

/* ---- the semantic conventions of what profile.proto alone has ---- */
#define OTLP_BUILD_ID     "process.executable.build_id.gnu"
#define OTLP_TYPE_ORDER   "pprof.scope.sample_type_order"
#define OTLP_DEFAULT_TYPE "pprof.scope.default_sample_type"
#define OTLP_COMMENT      "pprof.profile.comment"
#define OTLP_DOC_URL      "pprof.profile.doc_url"
#define OTLP_DROP_FRAMES  "pprof.profile.drop_frames"
#define OTLP_KEEP_FRAMES  "pprof.profile.keep_frames"
#define OTLP_IS_FOLDED    "pprof.location.is_folded"
/* Of a mapping, in the order of profile.proto's fields. */
#define OTLP_MAPPING_FLAGS                                                                                             \
    {                                                                                                                  \
        "pprof.mapping.has_functions", "pprof.mapping.has_filenames", "pprof.mapping.has_line_numbers",                \
            "pprof.mapping.has_inline_frames"                                                                          \
    }
enum { OTLP_MAPPING_FLAG_COUNT = 4 };

/* ---- labels ----
 * An attribute of a sample is a label: a text, or a number with its unit; an array of texts or numbers is several labels. A link is the
 * two labels of hexadecimal digits, and the time of an observation a number. */
#define OTLP_TRACE_LABEL "trace_id"
#define OTLP_SPAN_LABEL  "span_id"
#define OTLP_TIME_LABEL  "timestamp_unix_nano"
#define OTLP_TIME_UNIT   "nanoseconds"
/* Which of the profiles of a kind a sample is of, where the file has several. */
#define OTLP_PART_LABEL "otlp.profile"
/* What a label cannot say by itself, the end of its key does. :otlp is the whole attribute in base64. */
#define OTLP_ENDING_TEXT   ":string"
#define OTLP_ENDING_INT    ":int"
#define OTLP_ENDING_BOOL   ":bool"
#define OTLP_ENDING_DOUBLE ":double"
#define OTLP_ENDING_ANY    ":otlp"

/* ---- the rest ----
 * A comment of the profile, with the # of those that reports do not show: OTLP_CONTEXT, the number of the part, a blank, and this message of
 * clear's own in base64. Texts in it stand for themselves; it has no index into a dictionary. */
#define OTLP_CONTEXT "#otlp:"
enum otlp_context_field {
    CONTEXT_RESOURCE = 1, /* the message Resource */
    CONTEXT_RESOURCE_SCHEMA,
    CONTEXT_SCOPE, /* the message InstrumentationScope, without the attributes about profile.proto */
    CONTEXT_SCOPE_SCHEMA,
    CONTEXT_HEAD,        /* of each profile: its fields of plain numbers and bytes, as they stood there */
    CONTEXT_ATTRIBUTE,   /* of the profile: KeyValueAndUnit, its key and unit as texts */
    CONTEXT_TYPE,        /* of each profile: type and unit, as texts */
    CONTEXT_PERIOD_TYPE, /* likewise */
    CONTEXT_LOCATIONS,   /* attributes of locations: TAGGED_* */
    CONTEXT_MAPPINGS,    /* and of mappings */
    CONTEXT_IS_PPROF,    /* 1: several sample types belong together, and labels are those of a profile.proto */
    CONTEXT_IS_WHOLE,    /* 1: nothing is to be taken from the head of the profile, which is that of several parts */
    CONTEXT_DEFAULT_TYPE /* of a whole one: text */
};
enum {
    TAGGED_ATTRIBUTE = 1,
    TAGGED_HASHES
}; /* the same attributes, and the hashes of whose they are: fixed64, packed */

#endif
