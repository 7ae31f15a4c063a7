#include "ingest/team/worst_findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest/team/content_key.h"
#include "ingest/team/copy_text.h"
#include "ingest/team/team.h"
#include "schema/schema.h"

/* A number as the text of a parameter; NULL for 0. */
struct parameter_text {
    char text[24];
};

static const char *number_or_null(struct parameter_text *number, int64_t value) {
    snprintf(number->text, sizeof number->text, "%" PRId64, value);
    return value ? number->text : NULL;
}

static void add(struct worst_findings *findings, const struct team_answer *answer, int row) {
    struct worst_finding *item = &findings->items[findings->count++];
    char **texts[] = {&item->project, &item->section, &item->code, &item->severity, &item->subject};
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        *texts[i] = team_plain_text(answer, row, i);
    item->runs = team_int(answer, row, 5);
    snprintf(item->run, sizeof item->run, "%s", team_word(answer, row, 6));
    item->started_ns = team_int(answer, row, 7);
}

static int ask(struct worst_findings *findings, struct team_server *server, const struct findings_request *request,
               struct error *err) {
    struct parameter_text project, last, top;
    const char *values[] = {request->project ? number_or_null(&project, content_project(request->project)) : NULL,
                            number_or_null(&last, request->last), number_or_null(&top, request->top)};
    struct team_answer answer;
    if ((request->project && team_check_project(server, request->project, err)) ||
        team_ask(server, embedded_text("team/store/worst"), values, 3, &answer, err))
        return -1;
    findings->items = xcalloc((size_t)answer.rows + 1, sizeof *findings->items);
    for (int i = 0; i < answer.rows; i++)
        add(findings, &answer, i);
    team_answer_free(&answer);
    return 0;
}

int worst_findings_read(struct worst_findings *findings, const char *uri, const struct findings_request *request,
                        struct error *err) {
    struct team_server server;
    int64_t version;
    *findings = (struct worst_findings){0};
    int code = team_connect(&server, uri, err) || team_read_version(&server, &version, err) ||
                       ask(findings, &server, request, err)
                   ? -1
                   : 0;
    team_disconnect(&server);
    return code;
}

void worst_findings_free(struct worst_findings *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        struct worst_finding *item = &findings->items[i];
        char *texts[] = {item->project, item->section, item->code, item->severity, item->subject};
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            free(texts[j]);
    }
    free(findings->items);
    *findings = (struct worst_findings){0};
}
