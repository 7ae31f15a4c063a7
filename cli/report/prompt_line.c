#include "cli/report/prompt_line.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/buffer.h"
#include "base/error.h"

enum { HISTORY_KEPT = 1000, SHOWN_MAX = 200 };

struct prompt_lines {
    EditLine *edit; /* NULL: a script */
    History *history;
    char *history_path; /* NULL: none is kept */
    char *text, *last;
    size_t room;
    bool was_cancelled;
    prompt_completer *complete;
    void *context;
};

/* ---- history
 * --------------------------------------------------------------------------------------------------------- */

/* Makes each directory of a path, readable by the user only. */
static void make_directories(char *path) {
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
}

static char *find_history(void) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (state && *state == '/')
        path = xasprintf("%s/clear/report_history", state);
    else if (home && *home == '/')
        path = xasprintf("%s/.local/state/clear/report_history", home);
    if (path) make_directories(path);
    return path;
}

/* Appends a line, so that parallel sessions keep theirs. */
static void append_history(const char *path, const char *line) {
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    (void)!dprintf(file, "%s\n", line);
    close(file);
}

/* Cuts a history that grew to twice its size to the last lines. */
static void shorten_history(const char *path, const struct word_list *lines) {
    if (lines->count < 2 * HISTORY_KEPT) return;
    char *temporary = xasprintf("%s.%d", path, (int)getpid());
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    for (size_t i = lines->count - HISTORY_KEPT; out && i < lines->count; i++)
        fprintf(out, "%s\n", lines->items[i]);
    bool is_written = out && !ferror(out);
    if (out && fclose(out) != 0) is_written = false;
    if (!is_written || rename(temporary, path) != 0) (void)unlink(temporary);
    free(temporary);
}

static void remember(struct prompt_lines *lines, const char *line) {
    HistEvent event;
    if (history(lines->history, &event, H_ENTER, line) >= 0) return;
    lines->history_path = NULL; /* out of memory: no more history */
}

static void load_history(struct prompt_lines *lines) {
    struct word_list found = {0};
    struct arena arena = {0};
    FILE *file = lines->history_path ? fopen(lines->history_path, "re") : NULL;
    ssize_t size;
    while (file && (size = getline(&lines->text, &lines->room, file)) > 0) {
        if (lines->text[size - 1] == '\n') lines->text[--size] = '\0';
        if (size) word_list_add(&found, arena_text(&arena, lines->text, (size_t)size));
    }
    if (file) fclose(file);
    for (size_t i = found.count > HISTORY_KEPT ? found.count - HISTORY_KEPT : 0; i < found.count; i++)
        remember(lines, found.items[i]);
    if (file) shorten_history(lines->history_path, &found);
    free(found.items);
    arena_free(&arena);
}

/* ---- completion
 * ------------------------------------------------------------------------------------------------------ */

static size_t common_size(const struct word_list *found) {
    size_t size = strlen(found->items[0]);
    for (size_t i = 1; i < found->count; i++) {
        size_t same = 0;
        while (same < size && found->items[i][same] == found->items[0][same])
            same++;
        size = same;
    }
    /* Never half a UTF-8 character. */
    while (size && ((unsigned char)found->items[0][size] & 0xc0) == 0x80)
        size--;
    return size;
}

static size_t terminal_width(void) {
    struct winsize size = {0};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static void print_candidates(const struct word_list *found) {
    size_t widest = 0, width = terminal_width();
    for (size_t i = 0; i < found->count && i < SHOWN_MAX; i++)
        if (strlen(found->items[i]) > widest) widest = strlen(found->items[i]);
    size_t columns = widest + 2 < width ? width / (widest + 2) : 1;
    for (size_t i = 0; i < found->count && i < SHOWN_MAX; i++)
        printf("%s%-*s", i % columns ? "" : "\n", (int)widest + 2, found->items[i]);
    if (found->count > SHOWN_MAX) printf("\n... and %zu more", found->count - SHOWN_MAX);
    putchar('\n');
    fflush(stdout);
}

/* Inserts the only candidate or the common beginning of all; if that adds nothing, lists them. */
static unsigned char insert(EditLine *edit, const char *typed, const struct word_list *found) {
    if (found->count == 0) return CC_REFRESH_BEEP;
    size_t size = common_size(found), typed_size = strlen(typed);
    bool is_more = found->count == 1 || (size >= typed_size && strncmp(found->items[0], typed, size) != 0);
    if (!is_more || size < 1) {
        print_candidates(found);
        return CC_REDISPLAY;
    }
    char last = found->items[0][size - 1];
    char *text =
        xasprintf("%.*s%s", (int)size, found->items[0], found->count > 1 || last == '=' || last == '/' ? "" : " ");
    el_deletestr(edit, (int)typed_size);
    int code = el_insertstr(edit, text);
    free(text);
    return code < 0 ? CC_REFRESH_BEEP : CC_REFRESH;
}

static unsigned char on_tab(EditLine *edit, wint_t key) {
    struct prompt_lines *lines;
    const LineInfo *line = el_line(edit);
    struct word_list found = {0};
    struct arena arena = {0};
    size_t start = 0;
    (void)key;
    el_get(edit, EL_CLIENTDATA, &lines);
    const char *text = arena_text(&arena, line->buffer, (size_t)(line->cursor - line->buffer));
    lines->complete(lines->context, text, &start, &found, &arena);
    unsigned char result = insert(edit, text + start, &found);
    free(found.items);
    arena_free(&arena);
    return result;
}

/* ---- the terminal
 * ---------------------------------------------------------------------------------------------------- */

static char *prompt_text(EditLine *edit) {
    static char text[] = "(clear) ";
    (void)edit;
    return text;
}

/* ^C and ^Z are keys here and not signals. ^C cancels the line; nothing is interrupted half-way. */
static unsigned char on_cancel(EditLine *edit, wint_t key) {
    struct prompt_lines *lines;
    (void)key;
    el_get(edit, EL_CLIENTDATA, &lines);
    lines->was_cancelled = true;
    return CC_EOF;
}

/* Stops the whole job, as the terminal does. libedit restores the terminal first. */
static unsigned char on_stop(EditLine *edit, wint_t key) {
    (void)edit;
    (void)key;
    kill(0, SIGTSTP);
    return CC_REDISPLAY; /* the shell wrote in the meantime */
}

static void open_terminal(struct prompt_lines *lines) {
    HistEvent event;
    setlocale(LC_CTYPE, ""); /* libedit needs it for characters that are not ASCII */
    lines->edit = el_init("clear", stdin, stdout, stderr);
    lines->history = history_init();
    if (!lines->edit || !lines->history) bug("libedit: no memory");
    history(lines->history, &event, H_SETSIZE, 2 * HISTORY_KEPT);
    history(lines->history, &event, H_SETUNIQUE, 1);
    el_set(lines->edit, EL_CLIENTDATA, lines);
    el_set(lines->edit, EL_PROMPT, prompt_text);
    el_set(lines->edit, EL_EDITOR, "emacs");
    el_set(lines->edit, EL_SIGNAL, 1); /* restores the terminal before a signal ends the process */
    el_set(lines->edit, EL_HIST, history, lines->history);
    /* el_set copies the names of functions and never frees them. */
    el_wset(lines->edit, EL_ADDFN, L"clear-complete", L"complete the word", on_tab);
    el_wset(lines->edit, EL_ADDFN, L"clear-cancel", L"give up the line", on_cancel);
    el_wset(lines->edit, EL_ADDFN, L"clear-stop", L"stop the job", on_stop);
    el_set(lines->edit, EL_BIND, "^I", "clear-complete", NULL);
    el_set(lines->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(lines->edit, EL_BIND, "^C", "clear-cancel", NULL);
    el_set(lines->edit, EL_BIND, "^Z", "clear-stop", NULL);
    el_set(lines->edit, EL_SETTY, "-d", "-isig", NULL);
    el_source(lines->edit, NULL); /* ~/.editrc */
    lines->history_path = find_history();
    load_history(lines);
}

static char *next_typed(struct prompt_lines *lines) {
    int size;
    lines->was_cancelled = false;
    const char *text = el_gets(lines->edit, &size);
    if (!text && !lines->was_cancelled) {
        putchar('\n');
        return NULL;
    }
    free(lines->last);
    lines->last = text ? xstrdup(text) : xstrdup("");
    lines->last[strcspn(lines->last, "\n")] = '\0';
    if (!text) puts("^C");
    if (!lines->last[strspn(lines->last, " \t")]) return lines->last;
    remember(lines, lines->last);
    append_history(lines->history_path, lines->last);
    return lines->last;
}

/* ---- lines
 * ----------------------------------------------------------------------------------------------------------- */

struct prompt_lines *prompt_lines_open(bool is_terminal, prompt_completer *complete, void *context) {
    struct prompt_lines *lines = xcalloc(1, sizeof *lines);
    lines->complete = complete;
    lines->context = context;
    if (is_terminal) open_terminal(lines);
    return lines;
}

char *prompt_lines_next(struct prompt_lines *lines) {
    if (lines->edit) return next_typed(lines);
    ssize_t size = getline(&lines->text, &lines->room, stdin);
    if (size <= 0) return NULL;
    if (lines->text[size - 1] == '\n') lines->text[size - 1] = '\0';
    return lines->text;
}

void prompt_lines_close(struct prompt_lines *lines) {
    if (lines->edit) el_end(lines->edit);
    if (lines->history) history_end(lines->history);
    free(lines->history_path);
    free(lines->text);
    free(lines->last);
    free(lines);
}
