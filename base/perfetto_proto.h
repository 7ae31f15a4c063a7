/* perfetto_proto.h: the numbers of fields of perfetto_trace.proto that clear writes and reads, message by message. A trace is a stream of
 * packets (TracePacket), each of one sequence; what a sequence interned (names, stacks) its later packets name by number. */
#ifndef CLEAR_BASE_PERFETTO_PROTO_H
#define CLEAR_BASE_PERFETTO_PROTO_H

enum { TRACE_PACKET = 1 }; /* Trace */
enum packet_field {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TIMESTAMP_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_PERF_SAMPLE = 66
};
enum { SEQUENCE_STATE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 }; /* bits of PACKET_SEQUENCE_FLAGS */

enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_IS_INCREMENTAL = 3, CLOCK_UNIT_NS = 4 };
/* Clocks from CLOCKS_OF_SEQUENCES on are a sequence's own. */
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCKS_OF_SEQUENCES = 64 };

enum descriptor_field {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_STATIC_NAME = 10
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5, COUNTER_UNIT = 3 };

enum event_field {
    EVENT_CATEGORY_IID = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_SOURCE = 34,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    EVENT_CALLSTACK = 56
};
enum event_type { EVENT_SLICE_BEGIN = 1, EVENT_SLICE_END, EVENT_INSTANT, EVENT_COUNTER };
enum annotation_field { ANNOTATION_NAME = 1, ANNOTATION_BOOL = 2, ANNOTATION_INT = 4, ANNOTATION_TEXT = 17 };

enum interned_field {
    INTERNED_CATEGORY = 1,
    INTERNED_EVENT_NAME = 2,
    INTERNED_ANNOTATION_NAME = 3,
    INTERNED_SOURCE = 4,
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_CALLSTACK = 7,
    INTERNED_PATH = 17,
    INTERNED_SOURCE_PATH = 18,
    INTERNED_MAPPING = 19,
    INTERNED_TEXT = 29,
    INTERNED_FIELDS
};
enum { ENTRY_IID = 1, ENTRY_NAME = 2 }; /* of each kind of entry */
enum { SOURCE_FILE = 2, SOURCE_FUNCTION = 3, SOURCE_LINE = 4 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_SOURCE = 5, FRAME_LINE = 6, CALLSTACK_FRAME = 2, MAPPING_PATH = 7 };

enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_CALLSTACK = 4, SAMPLE_MODE = 5, SAMPLE_MODE_USER = 2 };

#endif
