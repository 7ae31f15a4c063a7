#include "ingest/team/team_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/read/warehouse/merge.h"
#include "ingest/team/pull_heads.h"
#include "ingest/team/run_cache.h"
#include "ingest/team/team_runs.h"
#include "ingest/team/team_views.h"
#include "schema/schema.h"

struct team_reader {
    struct db_source source; /* the first member */
    char *project;
    struct team team;
    struct run_cache cache;
    bool wants_heads;
    struct head_figures figures;
    char *figure, *of; /* figures.name and .of */
    struct map wanted; /* words that were asked for: a command reads the store as it was when it first asked */
};

/* ---- one run ----------------------------------------------------------------------------------------------------- */

/* Where runs go, and how: both are opened when the first run needs them. */
struct taking {
    struct team_reader *reader;
    struct db *db;
    struct merge merge;
    struct map pushed; /* uuid -> moment [us since epoch] */
};

static int fetch_into(struct team *team, struct db *db, const struct team_run_name *run, bool is_passed_on,
                      struct error *err) {
    struct pull pull;
    int64_t run_id;
    bool is_known;
    int code = pull_begin(&pull, team, db, err);
    pull.is_passed_on = is_passed_on;
    if (code == 0) code = pull_run(&pull, run, &run_id, &is_known, err);
    pull_end(&pull);
    return code;
}

/* What a crash of the machine leaves of it, nobody reads: nothing waits for the disk, which it did 10 times a run. */
static int open_new_file(struct run_cache *cache, struct db *file, const char *path, struct error *err) {
    if (!run_cache_write_empty(cache, path)) {
        if (db_open(file, path, DB_WRITE, err) || db_close(file, err)) return -1;
        run_cache_note_empty(cache, path);
    }
    if (db_open(file, path, DB_WRITE, err)) return -1;
    if (db_exec(file, "PRAGMA synchronous = OFF", err) == 0) return 0;
    db_take_back(file);
    return -1;
}

static int fetch_to_file(struct team_reader *reader, const char *path, const struct team_run_name *run,
                         struct error *err) {
    struct error ignored = {0};
    struct db file;
    if (open_new_file(&reader->cache, &file, path, err)) return -1;
    int code = fetch_into(&reader->team, &file, run, true, err);
    return db_close(&file, code ? &ignored : err) || code ? -1 : 0;
}

static int merge_from(struct taking *taking, const char *path, struct error *err) {
    struct merge_result result;
    if (!taking->merge.db && merge_open(&taking->merge, taking->db, err)) return -1;
    return merge_file(&taking->merge, path, &result, err);
}

/* The same text where the same run was pushed to the same project at the same moment, and the tables have this version. */
static char *cached_name(const struct taking *taking, const struct team_run_name *run) {
    const struct team *team = &taking->reader->team;
    const struct map_entry *pushed = map_find(&taking->pushed, run->uuid, strlen(run->uuid));
    struct content_hash hash;
    content_begin(&hash, "cached run");
    content_text(&hash, team->server.name);
    content_int(&hash, team->project);
    content_int(&hash, pushed ? pushed->value : 0);
    content_int(&hash, SCHEMA_VERSION * 1000 + TEAM_VERSION);
    return xasprintf("%s-%016" PRIx64, run->uuid, (uint64_t)content_end(&hash).key);
}

/* 1: it is here now, from the cache or through it; 0: the cache does not serve; -1: the server's error is set. */
static int take_through_cache(struct taking *taking, const struct team_run_name *run, struct error *err) {
    struct run_cache *cache = &taking->reader->cache;
    struct error useless = {0};
    char *name = cached_name(taking, run), *path = run_cache_new_file(cache);
    int code = 0;
    if (path && run_cache_take(cache, name, path) && merge_from(taking, path, &useless) == 0) {
        code = 1;
    } else if (path && truncate(path, 0) == 0) {
        code = fetch_to_file(taking->reader, path, run, err) ? -1 : 1;
        if (code == 1) run_cache_keep(cache, name, path);
        if (code == 1 && merge_from(taking, path, err)) code = -1;
    }
    if (path) (void)unlink(path);
    free(path);
    free(name);
    return code;
}

static int is_here(struct db *db, const struct team_run_name *run, bool *is_here, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT 1 FROM main.runs WHERE uuid = :uuid", err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", run->uuid);
    int code = db_step(db, row, err);
    sqlite3_reset(row);
    *is_here = code == 1;
    return code < 0 ? -1 : 0;
}

/* A full disk or a damaged cache costs time, and no run. */
static int take_run(struct taking *taking, const struct team_run_name *run, struct error *err) {
    struct error of_cache = {0};
    bool is_known;
    if (is_here(taking->db, run, &is_known, err)) return -1;
    if (is_known || take_through_cache(taking, run, &of_cache) == 1) return 0;
    return fetch_into(&taking->reader->team, taking->db, run, false, err);
}

/* ---- the runs of a set ------------------------------------------------------------------------------------------- */

static int read_pushed(struct taking *taking, const struct team_runs *runs, struct error *err) {
    struct buffer months = {0}, uuids = {0};
    struct team *team = &taking->reader->team;
    struct team_answer answer;
    for (size_t i = 0; i < runs->count; i++) {
        buffer_printf(&months, "%c%s", i ? ',' : '{', runs->items[i].name.month.text);
        buffer_printf(&uuids, "%c%s", i ? ',' : '{', runs->items[i].name.uuid);
    }
    buffer_add_text(&months, "}");
    buffer_add_text(&uuids, "}");
    const char *values[] = {team->project_number, buffer_text(&months), buffer_text(&uuids)};
    int code = team_ask(&team->server, embedded_text("team/runs/pushed"), values, 3, &answer, err);
    for (int row = 0; code == 0 && row < answer.rows; row++) {
        const char *uuid = team_word(&answer, row, 0);
        map_put(&taking->pushed, uuid, strlen(uuid), NULL)->value = team_int(&answer, row, 1);
    }
    team_answer_free(&answer);
    buffer_free(&months);
    buffer_free(&uuids);
    return code;
}

static int take_whole(struct team_reader *reader, struct db *db, const struct team_runs *runs, struct error *err) {
    struct taking taking = {.reader = reader, .db = db};
    int code = reader->cache.directory ? read_pushed(&taking, runs, err) : 0;
    for (size_t i = 0; code == 0 && i < runs->count; i++)
        code = take_run(&taking, &runs->items[i].name, err);
    merge_close(&taking.merge);
    map_free(&taking.pushed);
    return code;
}

static int take_runs(struct team_reader *reader, struct db *db, const struct team_runs *runs, struct error *err) {
    bool is_current = true;
    if (reader->of && team_views_check(&reader->team.server, &is_current, err)) return -1;
    if (!reader->wants_heads || !is_current) return take_whole(reader, db, runs, err);
    return pull_heads(&reader->team, db, runs, &reader->figures, err);
}

static int find_and_take(struct team_reader *reader, struct db *db, const char *set, struct error *err) {
    struct team_runs runs = {0};
    int code = team_runs_find(&runs, &reader->team, set, err);
    if (code == 0) code = take_runs(reader, db, &runs, err);
    team_runs_free(&runs);
    return code;
}

/* Of a project that was moved meanwhile, what was gone from here is there. */
static int take_set(struct team_reader *reader, struct db *db, const char *set, struct error *err) {
    bool has_moved = false;
    int code = find_and_take(reader, db, set, err);
    if (code == 0 && reader->wants_heads) code = team_follow(&reader->team, &has_moved, err);
    return has_moved ? find_and_take(reader, db, set, err) : code;
}

/* latest~N counts from the newest, here as there: the runs before it are wanted too. */
static int take_back(struct team_reader *reader, struct db *db, const char *word, struct error *err) {
    char *end, *last;
    unsigned long back = strtoul(word + strlen("latest~"), &end, 10);
    if (*end || end == word + strlen("latest~") || back >= INT32_MAX)
        return error_usage(err, "'%s': N of latest~N must be a whole number", word);
    last = xasprintf("last=%lu", back + 1);
    int code = take_set(reader, db, last, err);
    free(last);
    return code;
}

/* Numbers are of the runs that are here already: a store has none. */
static bool is_number_here(struct db *db, const char *word) {
    struct error ignored = {0};
    int64_t found = 0;
    if (!*word || word[strspn(word, "0123456789")]) return false;
    sqlite3_stmt *row = db_prepare(db, "SELECT count(*) FROM main.runs WHERE id = CAST(:word AS INTEGER)", &ignored);
    if (!row) return false;
    db_bind_text(row, ":word", word);
    if (db_step(db, row, &ignored) == 1) found = sqlite3_column_int64(row, 0);
    sqlite3_reset(row);
    return found;
}

static bool was_wanted(struct team_reader *reader, const char *word) {
    return map_find(&reader->wanted, word, strlen(word));
}

/* The set and its words; last=N means something else without those before it. */
static void note_set(struct team_reader *reader, const char *set) {
    char *copy = xstrdup(set), *at = copy, *word;
    map_put(&reader->wanted, set, strlen(set), NULL);
    while ((word = strsep(&at, ",")))
        if (strncmp(word, "last=", strlen("last=")) != 0) map_put(&reader->wanted, word, strlen(word), NULL);
    free(copy);
}

/* Words that only the database here can answer are taken out of the set: those behind them are about the rest. */
static int want(struct db_source *source, struct db *db, const char *set, struct error *err) {
    struct team_reader *reader = (struct team_reader *)(void *)source;
    const char *text = set && *set ? set : "latest";
    struct buffer rest = {0};
    char *copy = xstrdup(text), *at = copy, *word;
    int code = 0;
    if (was_wanted(reader, text)) at = NULL;
    while (code == 0 && (word = strsep(&at, ","))) {
        if (strncmp(word, "latest~", strlen("latest~")) == 0)
            code = take_back(reader, db, word, err);
        else if (!is_number_here(db, word))
            buffer_printf(&rest, "%s%s", rest.size ? "," : "", word);
    }
    if (code == 0 && rest.size) code = take_set(reader, db, buffer_text(&rest), err);
    if (code == 0) note_set(reader, text);
    buffer_free(&rest);
    free(copy);
    return code;
}

static int want_alike(struct db_source *source, struct db *db, struct error *err) {
    struct team_reader *reader = (struct team_reader *)(void *)source;
    struct team_runs runs = {0};
    int code = team_runs_alike(&runs, &reader->team, err);
    if (code == 0) code = take_runs(reader, db, &runs, err);
    team_runs_free(&runs);
    return code;
}

static int count_runs(struct db_source *source, int64_t *runs, struct error *err) {
    return team_runs_count(&((struct team_reader *)(void *)source)->team, runs, err);
}

void team_reader_heads(struct db *db) {
    if (db->source) ((struct team_reader *)(void *)db->source)->wants_heads = true;
}

void team_reader_figures(struct db *db, const char *figure, const char *of) {
    struct team_reader *reader = (struct team_reader *)(void *)db->source;
    if (!reader) return;
    reader->wants_heads = true;
    reader->figure = figure ? xstrdup(figure) : NULL;
    reader->of = of ? xstrdup(of) : NULL;
    reader->figures = (struct head_figures){true, reader->figure, reader->of};
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void close_reader(struct db_source *source) {
    struct team_reader *reader = (struct team_reader *)(void *)source;
    team_close(&reader->team);
    run_cache_close(&reader->cache);
    map_free(&reader->wanted);
    free(reader->figure);
    free(reader->of);
    free(reader->project);
    free(reader);
}

int team_reader_attach(struct db *db, const char *address, const char *project, struct error *err) {
    struct team_reader *reader = xcalloc(1, sizeof *reader);
    *reader = (struct team_reader){.project = xstrdup(project)};
    reader->source = (struct db_source){want, count_runs, want_alike, close_reader, reader->project};
    db->source = &reader->source;
    return run_cache_open(&reader->cache, err) || team_open(&reader->team, address, reader->project, err) ? -1 : 0;
}

int team_reader_open(struct db *db, const char *address, const char *project, struct error *err) {
    struct error ignored = {0};
    char *shown = team_shown_address(address);
    int code = db_open_private(db, shown, err);
    free(shown);
    if (code) return -1;
    db->is_private = false; /* others reach it by its address */
    if (team_reader_attach(db, address, project, err) == 0) return 0;
    db_close(db, &ignored);
    return -1;
}
