#include "ingest/team/team_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/team/copy_text.h"
#include "schema/schema.h"

enum { UUID_PREFIX_MIN = 8 };

void team_runs_free(struct team_runs *runs) {
    free(runs->items);
    *runs = (struct team_runs){0};
}

static int compare_items(const void *left, const void *right) {
    const struct team_run_item *a = left, *b = right;
    if (a->started_ns != b->started_ns) return a->started_ns < b->started_ns ? -1 : 1;
    return strcmp(a->name.uuid, b->name.uuid);
}

/* Oldest first, each once. */
static void sort_runs(struct team_runs *runs) {
    size_t kept = 0;
    if (runs->count) qsort(runs->items, runs->count, sizeof *runs->items, compare_items);
    for (size_t i = 0; i < runs->count; i++)
        if (!kept || strcmp(runs->items[kept - 1].name.uuid, runs->items[i].name.uuid) != 0)
            runs->items[kept++] = runs->items[i];
    runs->count = kept;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static int add_run(struct team_runs *runs, const struct team_server *server, const struct team_answer *answer, int row,
                   struct error *err) {
    const char *uuid = team_word(answer, row, 0);
    if (!team_is_uuid(uuid)) return error_fail(err, "%s: is damaged: '%.40s' is no run", server->name, uuid);
    struct team_run_item item = {.started_ns = team_int(answer, row, 2)};
    snprintf(item.name.uuid, sizeof item.name.uuid, "%s", uuid);
    snprintf(item.name.month.text, sizeof item.name.month.text, "%s", team_word(answer, row, 1));
    runs->items = xrealloc(runs->items, (runs->count + 1) * sizeof *runs->items);
    runs->items[runs->count++] = item;
    return 0;
}

/* The statement has the parameters $1 project, $2 most runs, then `values`. */
static int ask(struct team_runs *runs, struct team *team, const char *sql, const char *most, const char *const *values,
               int count, struct error *err) {
    const char *all[4] = {team->project_number, most};
    struct buffer texts[2] = {{0}};
    struct team_answer answer;
    for (int i = 0; i < count; i++) {
        store_text_add(&texts[i], values[i]);
        all[2 + i] = buffer_text(&texts[i]);
    }
    int code = team_ask(&team->server, embedded_text(sql), all, 2 + count, &answer, err);
    for (int i = 0; code == 0 && i < answer.rows; i++)
        code = add_run(runs, &team->server, &answer, i, err);
    team_answer_free(&answer);
    buffer_free(&texts[0]);
    buffer_free(&texts[1]);
    return code;
}

static int ask_tag(struct team_runs *runs, struct team *team, const char *tag, const char *most, struct error *err) {
    size_t size = strcspn(tag, "=");
    if (!tag[size]) return error_usage(err, "a tag is KEY=VALUE, not '%s'", tag);
    char *key = xasprintf("%.*s", (int)size, tag);
    const char *values[] = {key, tag + size + 1};
    int code = ask(runs, team, "team/runs/with_tag", most, values, 2, err);
    free(key);
    return code;
}

static int ask_label(struct team_runs *runs, struct team *team, const char *label, const char *most,
                     struct error *err) {
    return ask(runs, team, "team/runs/with_label", most, &label, 1, err);
}

/* The lowest and the highest uuid with that prefix. */
static void fill_uuid(char uuid[37], const char *prefix, char with) {
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    size_t size = strlen(prefix);
    for (size_t i = 0; i < sizeof form; i++)
        uuid[i] = i < size ? prefix[i] : form[i] == 'x' ? with : form[i];
}

static bool is_uuid_prefix(const char *word) {
    size_t size = strlen(word);
    if (size < UUID_PREFIX_MIN || size > 36) return false;
    for (size_t i = 0; i < size; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? word[i] != '-' : !strchr("0123456789abcdef", word[i]))
            return false;
    return true;
}

static int ask_uuid(struct team_runs *runs, struct team *team, const char *word, struct error *err) {
    char low[37], high[37];
    const char *values[] = {low, high};
    size_t before = runs->count;
    fill_uuid(low, word, '0');
    fill_uuid(high, word, 'f');
    if (ask(runs, team, "team/runs/with_uuid", "2", values, 2, err)) return -1;
    if (runs->count - before < 2) return 0;
    return error_usage(err, "'%s' is the beginning of several runs: %s and %s", word, runs->items[before].name.uuid,
                       runs->items[before + 1].name.uuid);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Keeps the newest of those before, or asks for the newest of all. */
static int take_last(struct team_runs *runs, struct team *team, const char *number, bool is_first, struct error *err) {
    char *end, most[24];
    long long count = strtoll(number, &end, 10);
    if (end == number || *end || count < 1) return error_usage(err, "last=N needs a number from 1, not '%s'", number);
    snprintf(most, sizeof most, "%lld", count);
    if (is_first) return ask(runs, team, "team/runs/newest", most, NULL, 0, err);
    sort_runs(runs);
    if (runs->count > (size_t)count) {
        memmove(runs->items, runs->items + runs->count - count, (size_t)count * sizeof *runs->items);
        runs->count = (size_t)count;
    }
    return 0;
}

static int take_name(struct team_runs *runs, struct team *team, const char *word, struct error *err) {
    size_t before = runs->count;
    if (strchr(word, '=') && ask_tag(runs, team, word, "1", err)) return -1;
    if (runs->count == before && ask_label(runs, team, word, "1", err)) return -1;
    if (runs->count == before && is_uuid_prefix(word)) return ask_uuid(runs, team, word, err);
    return 0;
}

static int take_word(struct team_runs *runs, struct team *team, const char *word, bool is_first, struct error *err) {
    if (strncmp(word, "last=", 5) == 0) return take_last(runs, team, word + 5, is_first, err);
    if (strcmp(word, "all") == 0) return ask(runs, team, "team/runs/newest", NULL, NULL, 0, err);
    if (strcmp(word, "latest") == 0) return ask(runs, team, "team/runs/newest", "1", NULL, 0, err);
    if (strncmp(word, "tag:", 4) == 0) return ask_tag(runs, team, word + 4, NULL, err);
    if (strncmp(word, "all:", 4) != 0) return take_name(runs, team, word, err);
    return strchr(word, '=') ? ask_tag(runs, team, word + 4, NULL, err) : ask_label(runs, team, word + 4, NULL, err);
}

/* The projects with runs, as "p (7), q (2)". */
static int list_projects(struct team *team, struct buffer *list, struct error *err) {
    struct team_answer answer;
    if (team_ask(&team->server, embedded_text("team/store/summary"), NULL, 0, &answer, err)) return -1;
    for (int i = 0; i < answer.rows; i++) {
        char *name = team_plain_text(&answer, i, 0);
        if (team_int(&answer, i, 1))
            buffer_printf(list, "%s%.60s (%" PRId64 ")", list->size ? ", " : "; there are: ", name,
                          team_int(&answer, i, 1));
        free(name);
    }
    team_answer_free(&answer);
    return 0;
}

/* Nothing has that name, or there is nothing at all: mostly another project is meant. */
static int fail_no_run(struct team *team, const char *word, struct error *err) {
    struct buffer projects = {0};
    int64_t count;
    if (team_runs_count(team, &count, err) || (count == 0 && list_projects(team, &projects, err))) return -1;
    if (count == 0)
        error_usage(err, "%s: no runs in project %.60s%.300s", team->server.name, team->project_name,
                    buffer_text(&projects));
    buffer_free(&projects);
    return error_usage(err,
                       "%s, project %s: no run is '%s'; a set is all, latest, last=N, tag:KEY=VALUE, a label or the "
                       "first 8 characters of a uuid",
                       team->server.name, team->project_name, word);
}

static int take_word_with_runs(struct team_runs *runs, struct team *team, const char *word, bool is_first,
                               struct error *err) {
    size_t before = runs->count;
    if (take_word(runs, team, word, is_first, err)) return -1;
    if (runs->count > (strncmp(word, "last=", 5) == 0 ? 0 : before)) return 0;
    return fail_no_run(team, word, err);
}

int team_runs_find_here(struct team_runs *runs, struct team *team, const char *set, struct error *err) {
    char *words = xstrdup(set), *rest = words, *word;
    int code = 0;
    *runs = (struct team_runs){0};
    for (bool is_first = true; code == 0 && (word = strsep(&rest, ",")); is_first = false)
        code = take_word_with_runs(runs, team, word, is_first, err);
    free(words);
    sort_runs(runs);
    return code;
}

/* A list of a project that was moved meanwhile may lack runs. */
int team_runs_find(struct team_runs *runs, struct team *team, const char *set, struct error *err) {
    struct error second = {0};
    bool has_moved;
    int code = team_runs_find_here(runs, team, set, err);
    if (code && !team->server.connection) return -1;
    if (team_follow(team, &has_moved, &second)) return code ? -1 : error_fail(err, "%s", second.message);
    if (!has_moved) return code;
    team_runs_free(runs);
    *err = (struct error){0};
    return team_runs_find_here(runs, team, set, err);
}

int team_runs_alike(struct team_runs *runs, struct team *team, struct error *err) {
    *runs = (struct team_runs){0};
    int code = ask(runs, team, "team/runs/alike", NULL, NULL, 0, err);
    if (code == 0 && !runs->count) return fail_no_run(team, "latest", err);
    sort_runs(runs);
    return code;
}

int team_runs_count(struct team *team, int64_t *count, struct error *err) {
    const char *values[] = {team->project_number};
    struct team_answer answer;
    if (team_ask(&team->server, "SELECT count(*) FROM clear.runs WHERE project = $1", values, 1, &answer, err))
        return -1;
    *count = team_int(&answer, 0, 0);
    team_answer_free(&answer);
    return 0;
}
