/* Bytes of a client of clear mcp, through all of serve/mcp but the commands that make answers; behind the byte 0x1e stands what these print.
 * Whatever both are: each answer is a line of valid JSON, there is at most one for each line, and no command gets an option or a file that is
 * none of the client's business. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "serve/mcp/session.h"

enum { SEPARATOR = 0x1e, STEPS_MAX = 1000 };

static const struct mcp_source source = {.directory = "/nowhere/base"};
static struct mcp_session session;
static const uint8_t *printed;
static size_t printed_size;

/* ---- around the commands (the linker's --wrap) ---- */

void __real_job_start(struct job *job, int epoll);
void __wrap_job_start(struct job *job, int epoll);

static void check_words(const struct job_words *words) {
    bool is_name = false;
    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i];
        if (i == 1 && strcmp(word, "profile") == 0) bug("a program is run");
        if (is_name && (*word == '-' || *word == '/' || strstr(word, "://"))) bug("a run is named %s", word);
        if (strcmp(word, "--") == 0) is_name = true;
    }
}

/* The one of fuzz_http.c where both are in one program. */
__attribute__((weak)) void __wrap_job_start(struct job *job, int epoll) {
    if (fuzz_job)
        fuzz_job(job);
    else
        __real_job_start(job, epoll);
}

/* The command would be this program. */
static void answer_job(struct job *job) {
    check_words(&job->words);
    buffer_add(&job->output, printed, printed_size);
    job->state = JOB_DONE;
}

/* ---- answers ---- */

static bool is_json(const char *line) {
    struct error err = {0};
    sqlite3_stmt *row =
        db_prepare(&session.db, "SELECT json_valid(:line) AND :line ->> '$.jsonrpc' = '2.0' AS is_answer", &err);
    if (!row) bug("%s", err.message);
    db_bind_text(row, ":line", line);
    bool is_valid = db_step(&session.db, row, &err) == 1 && sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return is_valid;
}

static size_t check_answers(void) {
    size_t count = 0;
    char *text = buffer_take(&session.out), *rest = text;
    while (rest && *rest) {
        char *line = strsep(&rest, "\n");
        if (!rest) bug("an answer without an end: %.200s", line);
        if (utf8_bad_byte(line, strlen(line)) != strlen(line)) bug("an answer is no UTF-8: %.200s", line);
        if (!is_json(line)) bug("an answer is no JSON: %.200s", line);
        count++;
    }
    free(text);
    return count;
}

/* ---- an input ---- */

static void end(void) {
    session_close(&session);
}

static void start(void) {
    static bool is_open;
    struct error err = {0};
    if (!is_open && session_open(&session, &source, &err)) bug("%s", err.message);
    if (!is_open) atexit(end);
    fuzz_job = answer_job;
    is_open = true;
}

static size_t count_lines(const uint8_t *data, size_t size) {
    size_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    start();
    const uint8_t *behind = size ? memchr(data, SEPARATOR, size) : NULL;
    size_t asked = behind ? (size_t)(behind - data) : size;
    printed = behind ? behind + 1 : data;
    printed_size = size - asked - (behind != NULL);
    session.is_initialized = size % 2 == 0; /* else each request needs its version */
    session_take(&session, (const char *)data, asked);
    session_take(&session, "\n", 1);
    for (int i = 0; i < STEPS_MAX && session.call_count; i++)
        session_step(&session, 0);
    if (session.call_count) bug("a request is never answered");
    size_t answers = check_answers();
    if (answers > count_lines(data, asked)) bug("more answers than lines");
    if (answers) replay_taken++;
    return 0;
}
