#include "ingest/team/store_status.h"

#include <stdlib.h>

#include "ingest/team/copy_text.h"
#include "ingest/team/libpq.h"
#include "ingest/team/team.h"
#include "schema/schema.h"

static int read_projects(struct store_status *status, struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/store/summary"), NULL, 0, &answer, err)) return -1;
    status->projects = xcalloc((size_t)answer.rows + 1, sizeof *status->projects);
    for (int i = 0; i < answer.rows; i++)
        status->projects[status->project_count++] = (struct store_project){
            team_plain_text(&answer, i, 0), team_int(&answer, i, 1), team_int(&answer, i, 2), team_int(&answer, i, 3)};
    team_answer_free(&answer);
    return 0;
}

static int read_tables(struct store_status *status, struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/store/sizes"), NULL, 0, &answer, err)) return -1;
    status->tables = xcalloc((size_t)answer.rows + 1, sizeof *status->tables);
    for (int i = 0; i < answer.rows; i++) {
        status->tables[status->table_count++] =
            (struct store_table){team_plain_text(&answer, i, 0), team_int(&answer, i, 1), team_int(&answer, i, 2)};
        status->bytes += team_int(&answer, i, 1);
    }
    team_answer_free(&answer);
    return 0;
}

static int read_shards(struct store_status *status, struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/store/shards"), NULL, 0, &answer, err)) return -1;
    status->shards = xcalloc((size_t)answer.rows + 1, sizeof *status->shards);
    for (int i = 0; i < answer.rows; i++)
        status->shards[status->shard_count++] =
            (struct store_shard){team_plain_text(&answer, i, 0), team_shown_address(team_word(&answer, i, 1))};
    team_answer_free(&answer);
    return 0;
}

int store_shards_read(struct store_status *status, const char *uri, struct error *err) {
    struct team_server server;
    *status = (struct store_status){.address = team_shown_address(uri)};
    int code = team_connect(&server, uri, err) || read_shards(status, &server, err) ? -1 : 0;
    team_disconnect(&server);
    return code;
}

int store_status_read(struct store_status *status, const char *uri, struct error *err) {
    struct team_server server;
    *status = (struct store_status){.address = team_shown_address(uri)};
    int code = team_connect(&server, uri, err) || team_read_version(&server, &status->version, err) ||
                       read_projects(status, &server, err) || read_tables(status, &server, err) ||
                       read_shards(status, &server, err)
                   ? -1
                   : 0;
    if (code == 0) status->server_version = pq.version(server.connection);
    team_disconnect(&server);
    return code;
}

void store_status_free(struct store_status *status) {
    for (size_t i = 0; i < status->project_count; i++)
        free(status->projects[i].name);
    for (size_t i = 0; i < status->table_count; i++)
        free(status->tables[i].name);
    for (size_t i = 0; i < status->shard_count; i++) {
        free(status->shards[i].project);
        free(status->shards[i].address);
    }
    free(status->shards);
    free(status->projects);
    free(status->tables);
    free(status->address);
    *status = (struct store_status){0};
}
