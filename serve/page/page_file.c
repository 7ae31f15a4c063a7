#include "serve/page/page_file.h"

#include <microhttpd.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/base64.h"
#include "query/runs/run_set.h"
#include "schema/schema.h"
#include "serve/exchange.h"
#include "serve/page/asking.h"
#include "serve/page/bundle.h"

enum {
    SHARE = 3, /* no answer takes more than this part of the file: the others are of use too */
    MANY = 60, /* functions whose lines are in the file */
    FEW = 20,  /* functions whose instructions are in it */
};

struct maker {
    struct page_file *file;
    struct server *server;
    struct db *db;
    char *run, *base; /* uuids; base: NULL, or a set of them */
    struct buffer answers;
    size_t room; /* bytes that are left for answers */
};

/* ---- answers ----
 * A line each: the name, whether it is an answer or an error, the text; both texts in base64, so that nothing in them can be markup. */

static int compress_text(const struct buffer *text, struct buffer *out, struct error *err) {
    z_stream stream = {0};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return error_fail(err, "no memory to compress %zu bytes", text->size);
    uLong most = deflateBound(&stream, text->size);
    buffer_reserve(out, most);
    stream.next_in = (Bytef *)(uintptr_t)buffer_text(text);
    stream.avail_in = (uInt)text->size;
    stream.next_out = (Bytef *)out->data;
    stream.avail_out = (uInt)most;
    int code = deflate(&stream, Z_FINISH);
    out->size = stream.total_out;
    deflateEnd(&stream);
    return code == Z_STREAM_END ? 0 : error_fail(err, "cannot compress %zu bytes", text->size);
}

static int add_answer(struct maker *maker, const char *name, bool is_error, const struct buffer *text,
                      struct error *err) {
    struct buffer packed = {0}, line = {0};
    if (compress_text(text, &packed, err)) {
        buffer_free(&packed);
        return -1;
    }
    base64_add(&line, name, strlen(name));
    buffer_add_text(&line, is_error ? " error " : " ok ");
    base64_add(&line, packed.data, packed.size);
    buffer_add_char(&line, '\n');
    if (line.size > maker->room || line.size > maker->file->most / SHARE) {
        maker->file->left_out++;
    } else {
        buffer_add(&maker->answers, line.data, line.size);
        maker->room -= line.size;
    }
    buffer_free(&packed);
    buffer_free(&line);
    return 0;
}

/* ---- requests ---- */

static void add_parameter(struct buffer *query, const char *name, const char *value) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    if (!value || !*value) return;
    buffer_printf(query, "&%s=", name);
    for (; *value; value++)
        if (strchr(plain, *value))
            buffer_add_char(query, *value);
        else
            buffer_printf(query, "%%%02X", (unsigned char)*value);
}

/* Of a sample type: the main one of a kind, one that the overview shows, any other. */
enum rank { ANY, SHOWN, MAIN };

/* An answer of the application: its name in the file, and what is asked for it. */
struct page_part {
    const char *name, *resource, *query;
    int functions; /* it is about so many functions of those that cost most */
    enum rank of;  /* the least rank of types that have it */
};

static const struct page_part whole_pieces[] = {
    {"run", "run", ""},
    {"overview", "overview", ""},
    {"findings", "findings", ""},
    {"runs", "runs", "limit=1"},
    {"threads", "timeline", "of=threads"},
    {"events", "timeline", "limit=5000"},
    {"running", "timeline", "of=running&limit=5000"},
};
enum { THREADS = 4 }; /* the place of that answer */

static const struct page_part base_pieces[] = {{"compare", "compare", ""}, {"base", "run", ""}};

/* "top" is first: it tells whether there is anything, and which functions cost most. As the pages ask for them; trees as fine as the server
 * makes them. What is not here the pages make of these (web/file/file_api.js). */
static const struct page_part profile_pieces[] = {
    {"top", "table", "report=top&n=100000&nf=0"},
    {"tree", "tree", "width=1000000000"},
    {"source", "source", "", .functions = MANY, .of = SHOWN},
    {"inverted", "tree", "width=1000000000&inverted=1", .of = SHOWN},
    {"graph", "graph", "format=svg", .of = SHOWN},
    {"tags", "table", "report=tags", .of = SHOWN},
    {"disasm", "disasm", "", .functions = FEW, .of = SHOWN},
    {"peek", "table", "report=peek&function=.", .of = SHOWN},
};
enum { PROFILE_PIECES = sizeof profile_pieces / sizeof *profile_pieces };

/* What a piece is asked of. */
struct subject {
    const char *kind, *type;
    enum rank rank;
    bool has_base;
    const char *many, *few; /* of functions: regular expressions; "" for none */
};

static const char *functions_of(const struct subject *of, const struct page_part *piece) {
    const char *regex = piece->functions == MANY ? of->many : piece->functions == FEW ? of->few : NULL;
    return regex ? regex : "";
}

static struct api_question make_ask(const struct maker *maker, const struct page_part *piece,
                                    const struct subject *of) {
    bool is_of_base = strcmp(piece->name, "base") == 0;
    struct buffer query = {0};
    buffer_add_text(&query, piece->query);
    add_parameter(&query, "runs", is_of_base ? maker->base : maker->run);
    if (of->has_base && !is_of_base) add_parameter(&query, "base", maker->base);
    add_parameter(&query, "kind", of->kind);
    add_parameter(&query, "type", of->type);
    add_parameter(&query, "function", functions_of(of, piece));
    return (struct api_question){.resource = piece->resource, .query = buffer_take(&query)};
}

static char *name_of(const struct page_part *piece, const struct subject *of) {
    return xasprintf("%s\n%s\n%s\n%s", piece->name, of->kind ? of->kind : "", of->type ? of->type : "",
                     of->has_base ? "base" : "");
}

/* Asks for `count` pieces and keeps the answers, whose texts the caller may read before api_questions_free. */
static int take(struct maker *maker, const struct page_part *pieces, size_t count, const struct subject *of,
                struct api_question *asks, struct error *err) {
    int code = 0;
    for (size_t i = 0; i < count; i++)
        asks[i] = make_ask(maker, &pieces[i], of);
    server_ask(maker->server, asks, count);
    for (size_t i = 0; code == 0 && i < count; i++) {
        char *name = name_of(&pieces[i], of);
        code = add_answer(maker, name, asks[i].status != MHD_HTTP_OK, &asks[i].body, err);
        free(name);
    }
    return code;
}

/* ---- what is made here of answers and tables ---- */

static sqlite3_stmt *prepare(const struct maker *maker, const char *name, const char *json, struct error *err) {
    char *path = xasprintf("page/page_file/%s", name);
    sqlite3_stmt *row = db_prepare(maker->db, embedded_text(path), err);
    free(path);
    if (row) db_bind_text(row, ":json", json);
    return row;
}

/* The one text of a statement, as an answer. */
static int add_made(struct maker *maker, const char *statement, const struct page_part *as, const char *json,
                    struct error *err) {
    static const struct subject nothing;
    sqlite3_stmt *row = prepare(maker, statement, json, err);
    if (!row || db_step(maker->db, row, err) < 0) return -1;
    struct buffer text = {0};
    char *name = name_of(as, &nothing);
    buffer_add_text(&text, db_text(row, 0));
    sqlite3_reset(row);
    int code = add_answer(maker, name, false, &text, err);
    free(name);
    buffer_free(&text);
    return code;
}

static void add_quoted(struct buffer *regex, const char *name) {
    for (; *name; name++) {
        if (strchr("\\^$.*+?()[]{}|", *name)) buffer_add_char(regex, '\\');
        buffer_add_char(regex, *name);
    }
}

/* A regular expression of the `most` functions of a table that cost most by themselves, and of as many with what they call. */
static int find_functions(const struct maker *maker, const struct api_question *top, int most, struct buffer *regex,
                          struct error *err) {
    if (top->status != MHD_HTTP_OK) return 0;
    sqlite3_stmt *row = prepare(maker, "functions", buffer_text(&top->body), err);
    int step = -1;
    if (!row) return -1;
    db_bind_int(row, ":most", most);
    while ((step = db_step(maker->db, row, err)) > 0) {
        buffer_add_text(regex, regex->size ? "|" : "^(");
        add_quoted(regex, db_text(row, 0));
    }
    if (regex->size) buffer_add_text(regex, ")$");
    return step;
}

/* ---- the parts of a run ---- */

static int add_callers(struct maker *maker, struct error *err) {
    static const char *const kinds[] = {"lock", "wait", "channels", "mvcc"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *statement = xasprintf("callers_%s", kinds[i]), *name = xasprintf("callers-%s", kinds[i]);
        const struct page_part as = {.name = name};
        int code = add_made(maker, statement, &as, maker->run, err);
        free(statement);
        free(name);
        if (code) return -1;
    }
    return 0;
}

static int add_objects(struct maker *maker, struct error *err) {
    static const struct page_part pieces[] = {{"lock", "objects", "of=lock"},
                                              {"wait", "objects", "of=wait"},
                                              {"channels", "objects", "of=channels"},
                                              {"mvcc", "objects", "of=mvcc"},
                                              {"fibers", "objects", "of=fibers"}};
    enum { COUNT = sizeof pieces / sizeof *pieces };
    static const struct subject nothing;
    struct api_question asks[COUNT] = {0};
    int code = take(maker, pieces, COUNT, &nothing, asks, err);
    api_questions_free(asks, COUNT);
    return code ? code : add_callers(maker, err);
}

static int add_base(struct maker *maker, struct error *err) {
    enum { COUNT = sizeof base_pieces / sizeof *base_pieces };
    static const struct subject whole = {.has_base = true};
    struct api_question asks[COUNT] = {0};
    int code = take(maker, base_pieces, COUNT, &whole, asks, err);
    api_questions_free(asks, COUNT);
    return code;
}

/* The pieces of a profile besides the first, which there are of `of`. */
static size_t choose_pieces(const struct subject *of, struct page_part *pieces) {
    size_t count = 0;
    for (size_t i = 1; i < PROFILE_PIECES; i++) {
        const struct page_part *piece = &profile_pieces[i];
        bool is_there = piece->functions ? !of->has_base && *functions_of(of, piece) : true;
        if (is_there && of->rank >= piece->of) pieces[count++] = *piece;
    }
    return count;
}

static int add_profile(struct maker *maker, struct subject *of, struct error *err) {
    struct api_question top = {0}, asks[PROFILE_PIECES] = {0};
    struct page_part pieces[PROFILE_PIECES];
    struct buffer many = {0}, few = {0};
    size_t count = 0;
    int code = take(maker, profile_pieces, 1, of, &top, err);
    if (code == 0) code = find_functions(maker, &top, MANY, &many, err);
    if (code == 0) code = find_functions(maker, &top, FEW, &few, err);
    if (code == 0) {
        of->many = buffer_text(&many);
        of->few = buffer_text(&few);
        if (!many.size) of->rank = ANY; /* there are no samples: the pages that say so are enough */
        count = choose_pieces(of, pieces);
        code = take(maker, pieces, count, of, asks, err);
    }
    api_questions_free(asks, count);
    api_questions_free(&top, 1);
    buffer_free(&many);
    buffer_free(&few);
    return code;
}

/* All types of all kinds, by rank; rows of schema/page/page_file.sql. */
static int add_profiles(struct maker *maker, const char *run, const char *overview, struct error *err) {
    sqlite3_stmt *row = prepare(maker, "types", run, err);
    int step = row ? 0 : -1;
    if (row) db_bind_text(row, ":overview", overview);
    while (step >= 0 && (step = db_step(maker->db, row, err)) > 0) {
        char *kind = xstrdup(db_text(row, 0)), *type = xstrdup(db_text(row, 1));
        enum rank rank = (enum rank)sqlite3_column_int(row, 2);
        struct subject of = {.kind = kind, .type = type, .rank = rank};
        struct subject difference = {.kind = kind, .type = type, .rank = rank, .has_base = true};
        if (add_profile(maker, &of, err)) step = -1;
        if (step > 0 && maker->base && rank == MAIN && add_profile(maker, &difference, err)) step = -1;
        free(kind);
        free(type);
    }
    if (row) sqlite3_reset(row);
    return step;
}

/* What a thread did over time, of those with most samples and waits. */
static int add_thread(struct maker *maker, long long process, long long tid, struct error *err) {
    static const struct subject nothing;
    char *name = xasprintf("thread-%lld-%lld", process, tid);
    char *query = xasprintf("of=stacks&process=%lld&tid=%lld&limit=3000", process, tid);
    const struct page_part piece = {.name = name, .resource = "timeline", .query = query};
    struct api_question ask = {0};
    int code = take(maker, &piece, 1, &nothing, &ask, err);
    api_questions_free(&ask, 1);
    free(name);
    free(query);
    return code;
}

static int add_threads(struct maker *maker, const struct api_question *threads, struct error *err) {
    sqlite3_stmt *row =
        prepare(maker, "threads", threads->status == MHD_HTTP_OK ? buffer_text(&threads->body) : "[]", err);
    int step = row ? 0 : -1;
    while (step >= 0 && (step = db_step(maker->db, row, err)) > 0)
        if (add_thread(maker, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), err)) step = -1;
    if (row) sqlite3_reset(row);
    return step;
}

static int add_run(struct maker *maker, struct error *err) {
    enum { COUNT = sizeof whole_pieces / sizeof *whole_pieces };
    static const struct subject nothing;
    static const struct page_part stacks = {.name = "stacks"};
    struct api_question asks[COUNT] = {0};
    int code = take(maker, whole_pieces, COUNT, &nothing, asks, err);
    const char *run = buffer_text(&asks[0].body), *overview = buffer_text(&asks[1].body);
    const char *findings = buffer_text(&asks[2].body);
    if (code == 0 && asks[0].status != MHD_HTTP_OK) code = error_fail(err, "the run cannot be described: %s", run);
    if (code == 0) code = add_made(maker, "stacks", &stacks, asks[2].status == MHD_HTTP_OK ? findings : "[]", err);
    if (code == 0) code = add_objects(maker, err);
    if (code == 0 && maker->base) code = add_base(maker, err);
    if (code == 0) code = add_profiles(maker, run, asks[1].status == MHD_HTTP_OK ? overview : "{}", err);
    if (code == 0) code = add_threads(maker, &asks[THREADS], err);
    api_questions_free(asks, COUNT);
    return code;
}

/* ---- the page ---- */

static void add_hash(struct buffer *out, const struct buffer *text) {
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&hash);
    sha256_update(&hash, text->size, (const uint8_t *)text->data);
    sha256_digest(&hash, sizeof digest, digest);
    buffer_add_text(out, "'sha256-");
    base64_add(out, digest, sizeof digest);
    buffer_add_char(out, '\'');
}

/* As the server's policy: this script and these styles alone run, and nothing is asked of anybody. */
static void add_policy(struct buffer *out, const struct buffer *script, const struct buffer *style) {
    buffer_add_text(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ");
    add_hash(out, script);
    buffer_add_text(out, "; style-src ");
    add_hash(out, style);
    buffer_add_text(out, "; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n");
}

/* What index.html has between two marks. */
static void add_part(struct buffer *out, const char *from, const char *to) {
    const char *html = embedded_text("web/index.html"), *start = strstr(html, from),
               *end = start ? strstr(start, to) : NULL;
    if (!end) bug("index.html has no %s", start ? to : from);
    buffer_add(out, start, (size_t)(end - start));
}

static void add_page(struct maker *maker, const struct buffer *script, const struct buffer *style, struct buffer *out) {
    const char *icon = embedded_text("web/icon.svg");
    add_part(out, "<!doctype", "<link ");
    add_policy(out, script, style);
    buffer_add_text(
        out, "<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:image/svg+xml;base64,");
    base64_add(out, icon, strlen(icon));
    buffer_add_text(out, "\">\n<style>");
    buffer_add(out, style->data, style->size);
    buffer_add_text(out, "</style>\n</head>\n");
    add_part(out, "<body>", "</body>");
    buffer_printf(out, "<script type=\"text/plain\" id=\"answers\"%s data-run=\"",
                  maker->base ? " data-base=\"1\"" : "");
    base64_add(out, maker->run, strlen(maker->run));
    buffer_add_text(out, "\">\n");
    buffer_add(out, buffer_text(&maker->answers), maker->answers.size);
    buffer_add_text(out, "</script>\n<script type=\"module\">");
    buffer_add(out, script->data, script->size);
    buffer_add_text(out, "</script>\n</body>\n</html>\n");
}

/* ---- all of it ---- */

/* The uuids of a set of runs, as one word. NULL with the error set. */
static char *uuids_of(struct maker *maker, const char *word, size_t most, struct error *err) {
    struct run_set runs = {0};
    struct buffer uuids = {0};
    int code = run_set_add(&runs, maker->db, word, err);
    if (code == 0 && runs.count > most)
        code = error_usage(err, "the file is of one run, and %s names %zu", word, runs.count);
    for (size_t i = 0; code == 0 && i < runs.count; i++) {
        sqlite3_stmt *row = db_prepare(maker->db, embedded_text("page/page_file/uuid"), err);
        if (row) db_bind_int(row, ":run", runs.ids[i]);
        code = row && db_step(maker->db, row, err) > 0 ? 0 : -1;
        if (code == 0) buffer_printf(&uuids, "%s%s", i ? "," : "", db_text(row, 0));
        if (row) sqlite3_reset(row);
    }
    run_set_free(&runs);
    if (code == 0) return buffer_take(&uuids);
    buffer_free(&uuids);
    return NULL;
}

static int make(struct maker *maker, struct buffer *out, struct error *err) {
    enum { BASE_MOST = 200 }; /* uuids in a command's word */
    struct buffer script = {0}, style = {0};
    int code = -1;
    bundle_script(&script);
    bundle_style(&style);
    size_t fixed = script.size + style.size + 8192; /* the page around them */
    maker->room = maker->file->most > fixed ? maker->file->most - fixed : 0;
    maker->db = warehouse_db(maker->server, err);
    if (maker->db && (maker->run = uuids_of(maker, maker->file->run, 1, err)) &&
        (!maker->file->base || (maker->base = uuids_of(maker, maker->file->base, BASE_MOST, err))))
        code = add_run(maker, err);
    if (code == 0) add_page(maker, &script, &style, out);
    buffer_free(&script);
    buffer_free(&style);
    return code;
}

int page_file_make(struct page_file *file, struct buffer *out, struct error *err) {
    struct maker maker = {.file = file};
    file->left_out = 0;
    if (server_open_alone(&maker.server, file->source, err)) return -1;
    int code = make(&maker, out, err);
    free(maker.run);
    free(maker.base);
    buffer_free(&maker.answers);
    server_close(maker.server);
    return code;
}
