/* proto.c: profile.proto, gzipped, as pprof writes it: proto is the filtered profile, topproto the plain list as one. */
#include "export/encode.h"
#include "export/format.h"
#include "query/profile/build.h"
#include "query/profile/scale.h"

int proto_write(struct report *report, struct buffer *out, struct error *err) {
    struct profile *profile = report->profile;
    bool is_scaled = report->ratio > 0 && report->ratio != 1;
    for (size_t i = 0; is_scaled && i < profile->sample_count * profile->type_count; i++)
        profile->values[i] = (int64_t)((double)profile->values[i] * report->ratio);
    return encode_write(profile, &(struct encode_target){.bytes = out}, err);
}

static int64_t scaled(const struct report *report, int64_t value) {
    const char *unit;
    return (int64_t)scale_value(value, report->sample_unit, report->output_unit, &unit);
}

static void add_node(const struct report *report, struct profile_builder *builder, const struct graph_node *node) {
    struct profile *made = builder->profile;
    const struct profile_function function = {.name = profile_text(made, node->info.name),
                                              .system_name = profile_text(made, ""),
                                              .file = profile_text(made, node->info.file),
                                              .start_line = node->info.start_line};
    const struct profile_line line = {
        .function = profile_build_function(builder, &function), .line = node->info.line, .column = node->info.column};
    const struct profile_location location = {.mapping = PROFILE_NONE, .address = node->info.address};
    uint32_t index = profile_add_location(made, &location, &line, 1), stack = profile_add_stack(made, &index, 1);
    const int64_t values[] = {scaled(report, graph_cum(node)), scaled(report, graph_flat(node))};
    profile_add_sample(made, (struct profile_sample){.stack = stack, .labels = 0}, values);
}

int topproto_write(struct report *report, struct buffer *out, struct error *err) {
    struct graph graph;
    struct graph_trimmed trimmed;
    struct profile made;
    struct profile_builder builder;
    report_build_graph(report, &graph, &trimmed);
    const struct profile_type types[] = {{"cum", report->output_unit}, {"flat", report->output_unit}};
    profile_build(&builder, &made, types, 2);
    builder.keeps_zero = true;
    made.time_ns = report->profile->time_ns;
    made.duration_ns = report->profile->duration_ns;
    made.period = report->profile->period;
    made.period_type = (struct profile_type){profile_text(&made, report->profile->period_type.type),
                                             profile_text(&made, report->profile->period_type.unit)};
    for (size_t i = 0; i < graph.node_count; i++)
        add_node(report, &builder, graph.nodes[i]);
    profile_built(&builder);
    graph_free(&graph);
    int code = encode_write(&made, &(struct encode_target){.bytes = out}, err);
    profile_free(&made);
    return code;
}
