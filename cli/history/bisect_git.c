#include "cli/history/bisect_git.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"

enum { GIT_SECONDS = 6 * 3600, GIT_WORDS = 16 };
#define GIT_OUTPUT ((size_t)256 << 20)

static const char *const tree_names[TREES] = {"good", "bad", "commit"};

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- git ---- */

static int missing(struct error *err) {
    return error_fail(err, "git is not installed, and clear bisect works with it");
}

/* Runs git in that directory; its output is added to `out`, which may be NULL. */
static int run_git(const char *directory, const char *const *words, struct buffer *out, struct error *err) {
    static const struct child_limits limits = {.output_max = GIT_OUTPUT, .seconds = GIT_SECONDS, .group = CHILD_GROUP};
    const char *all[GIT_WORDS + 8] = {
        "git", "-C", directory, "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"};
    struct buffer ignored = {0};
    for (size_t i = 0; words[i]; i++)
        all[7 + i] = words[i];
    enum child_end end = child_read(all, NULL, &limits, out ? out : &ignored, err);
    buffer_free(&ignored);
    return end == CHILD_DONE ? 0 : end == CHILD_MISSING ? missing(err) : -1;
}

static void cut_line_end(struct buffer *text) {
    while (text->size && text->data[text->size - 1] == '\n')
        text->data[--text->size] = '\0';
}

/* Its output without the last line end; free() it. NULL with the error set. */
static char *ask_git(const char *directory, const char *const *words, struct error *err) {
    struct buffer out = {0};
    if (run_git(directory, words, &out, err)) {
        buffer_free(&out);
        return NULL;
    }
    cut_line_end(&out);
    if (!out.size) buffer_add_text(&out, "");
    char *text = buffer_take(&out);
    return text ? text : xstrdup("");
}

/* Where git was asked to work somewhere else, as in a hook, our work trees would not be found. */
static void forget_environment(void) {
    static const char *const names[] = {"GIT_DIR",          "GIT_WORK_TREE",  "GIT_INDEX_FILE",        "GIT_COMMON_DIR",
                                        "GIT_PREFIX",       "GIT_NAMESPACE",  "GIT_OBJECT_DIRECTORY",  "GIT_CONFIG",
                                        "GIT_CONFIG_COUNT", "GIT_GRAFT_FILE", "GIT_NO_REPLACE_OBJECTS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

int bisect_git_open(struct bisect_git *git, struct error *err) {
    *git = (struct bisect_git){0};
    forget_environment();
    git->top = ask_git(".", WORDS("rev-parse", "--show-toplevel"), err);
    if (git->top) git->common = ask_git(".", WORDS("rev-parse", "--path-format=absolute", "--git-common-dir"), err);
    if (git->common) git->prefix = ask_git(".", WORDS("rev-parse", "--show-prefix"), err);
    return git->prefix ? 0 : -1;
}

void bisect_git_close(struct bisect_git *git) {
    free(git->top);
    free(git->common);
    free(git->prefix);
    free(git->place);
    *git = (struct bisect_git){0};
}

/* ---- commits ---- */

char *bisect_git_commit(const struct bisect_git *git, const char *name, struct error *err) {
    struct error failure = {0};
    char *revision = xasprintf("%s^{commit}", name), *hash = NULL;
    if (*name && *name != '-') hash = ask_git(git->top, WORDS("rev-parse", "--verify", "--quiet", revision), &failure);
    if (!hash) error_usage(err, "%s: no commit of that name in %s", name, git->top);
    free(revision);
    return hash;
}

char *bisect_git_short(const struct bisect_git *git, const char *hash) {
    struct error ignored = {0};
    char *brief = ask_git(git->top, WORDS("rev-parse", "--short=10", hash), &ignored);
    return brief ? brief : xstrdup(hash);
}

static void split_lines(struct bisect_commits *commits) {
    char *line = commits->text.data;
    while (line && *line) {
        commits->hashes = xrealloc(commits->hashes, (commits->count + 1) * sizeof *commits->hashes);
        commits->hashes[commits->count++] = line;
        char *end = strchr(line, '\n');
        if (!end) break;
        *end = '\0';
        line = end + 1;
    }
}

static int list_commits(const char *directory, const char *const *words, struct bisect_commits *commits,
                        struct error *err) {
    *commits = (struct bisect_commits){0};
    if (run_git(directory, words, &commits->text, err)) return -1;
    split_lines(commits);
    return 0;
}

void bisect_commits_free(struct bisect_commits *commits) {
    buffer_free(&commits->text);
    free(commits->hashes);
    *commits = (struct bisect_commits){0};
}

int bisect_git_range(const struct bisect_git *git, const char *good, const char *bad, struct bisect_commits *commits,
                     struct error *err) {
    char *without = xasprintf("^%s", good);
    int code = list_commits(git->top, WORDS("rev-list", "--topo-order", "--reverse", bad, without), commits, err);
    free(without);
    return code;
}

int bisect_git_parents(const struct bisect_git *git, const char *hash, struct bisect_commits *commits,
                       struct error *err) {
    char *parents = xasprintf("%s^@", hash);
    int code = list_commits(git->top, WORDS("rev-parse", parents), commits, err);
    free(parents);
    return code;
}

int bisect_git_about(const struct bisect_git *git, const char *hash, struct bisect_about *about, struct error *err) {
    *about = (struct bisect_about){0};
    about->subject = ask_git(git->top, WORDS("show", "-s", "--no-color", "--encoding=UTF-8", "--format=%s", hash), err);
    if (about->subject)
        about->author =
            ask_git(git->top, WORDS("show", "-s", "--no-color", "--encoding=UTF-8", "--format=%an <%ae>", hash), err);
    if (about->author) about->date = ask_git(git->top, WORDS("show", "-s", "--no-color", "--format=%aI", hash), err);
    return about->date ? 0 : -1;
}

void bisect_about_free(struct bisect_about *about) {
    free(about->subject);
    free(about->author);
    free(about->date);
}

/* ---- work trees ---- */

static char *tree_path(const struct bisect_git *git, enum bisect_tree tree) {
    return xasprintf("%s/%s", git->place, tree_names[tree]);
}

char *bisect_git_directory(const struct bisect_git *git, enum bisect_tree tree) {
    return xasprintf("%s/%s/%s", git->place, tree_names[tree], git->prefix);
}

/* Builds may be large, and must survive until --continue: not in memory, as /tmp may be. */
int bisect_git_make_place(struct bisect_git *git, struct error *err) {
    const char *base = getenv("TMPDIR");
    char *place = xasprintf("%s/clear-bisect-XXXXXX", base && *base == '/' ? base : "/var/tmp");
    if (mkdtemp(place)) {
        git->place = place;
        return 0;
    }
    error_fail(err, "%s: %s (TMPDIR names another directory)", place, strerror(errno));
    free(place);
    return -1;
}

static void remove_tree(const struct bisect_git *git, enum bisect_tree tree) {
    struct error ignored = {0};
    char *path = tree_path(git, tree);
    (void)run_git(git->common, WORDS("worktree", "remove", "--force", "--force", path), NULL, &ignored);
    free(path);
}

int bisect_git_add_tree(const struct bisect_git *git, enum bisect_tree tree, const char *hash, struct error *err) {
    struct error ignored = {0};
    remove_tree(git, tree);
    (void)run_git(git->common, WORDS("worktree", "prune"), NULL, &ignored); /* one whose directory somebody removed */
    if (mkdir(git->place, 0700) && errno != EEXIST) return error_fail(err, "%s: %s", git->place, strerror(errno));
    char *path = tree_path(git, tree);
    int code = run_git(git->top, WORDS("worktree", "add", "--quiet", "--detach", "--force", path, hash), NULL, err);
    free(path);
    return code;
}

void bisect_git_remove(struct bisect_git *git) {
    if (!git->place) return;
    for (enum bisect_tree tree = 0; tree < TREES; tree++)
        remove_tree(git, tree);
    (void)rmdir(git->place);
    free(git->place);
    git->place = NULL;
}

/* ---- git bisect ---- */

/* In our tree. */
static int run_in_tree(const struct bisect_git *git, const char *const *words, struct buffer *out, struct error *err) {
    char *path = tree_path(git, TREE_COMMIT);
    int code = run_git(path, words, out, err);
    free(path);
    return code;
}

/* What a build changed would be in the way of the next checkout. */
static int clean(const struct bisect_git *git, bool is_thorough, struct error *err) {
    if (is_thorough && run_in_tree(git, WORDS("clean", "-ffdxq"), NULL, err)) return -1;
    return run_in_tree(git, WORDS("reset", "--hard", "--quiet"), NULL, err);
}

int bisect_git_start(const struct bisect_git *git, const char *good, const char *bad, struct error *err) {
    if (bisect_git_add_tree(git, TREE_COMMIT, bad, err)) return -1;
    return run_in_tree(git, WORDS("bisect", "start", bad, good), NULL, err);
}

int bisect_git_replay(const struct bisect_git *git, const char *log_file, struct error *err) {
    if (bisect_git_add_tree(git, TREE_COMMIT, "HEAD", err)) return -1;
    return run_in_tree(git, WORDS("bisect", "replay", log_file), NULL, err);
}

bool bisect_git_is_there(const struct bisect_git *git) {
    struct error ignored = {0};
    return run_in_tree(git, WORDS("bisect", "log"), NULL, &ignored) == 0 && clean(git, false, &ignored) == 0;
}

int bisect_git_log(const struct bisect_git *git, struct buffer *log, struct error *err) {
    return run_in_tree(git, WORDS("bisect", "log"), log, err);
}

char *bisect_git_head(const struct bisect_git *git, struct error *err) {
    char *path = tree_path(git, TREE_COMMIT);
    char *hash = ask_git(path, WORDS("rev-parse", "--verify", "HEAD"), err);
    free(path);
    return hash;
}

static bool is_concluded(const struct bisect_git *git) {
    struct bisect_conclusion conclusion = {0};
    struct error ignored = {0};
    bool is =
        bisect_git_conclusion(git, &conclusion, &ignored) == 0 && (conclusion.first_bad || conclusion.possible.count);
    bisect_conclusion_free(&conclusion);
    return is;
}

/* git reports the end of a search among skipped commits as a failure. A checkout fails where a build left a file that the next commit
 * has too: then what builds left is removed. */
int bisect_git_mark(const struct bisect_git *git, enum bisect_word word, const char *hash, struct error *err) {
    static const char *const names[] = {"good", "bad", "skip"};
    struct error failure = {0}, again = {0};
    if (clean(git, false, err)) return -1;
    if (run_in_tree(git, WORDS("bisect", names[word], hash), NULL, &failure) == 0 || is_concluded(git)) return 0;
    if (clean(git, true, err)) return -1;
    if (run_in_tree(git, WORDS("bisect", "next"), NULL, &again) == 0 || is_concluded(git)) return 0;
    return error_fail(err, "%s", again.message);
}

static bool is_in(const struct bisect_commits *commits, const char *hash) {
    for (size_t i = 0; i < commits->count; i++)
        if (strcmp(commits->hashes[i], hash) == 0) return true;
    return false;
}

static int drop_skipped(const char *path, struct bisect_commits *commits, struct error *err) {
    struct bisect_commits skipped;
    size_t kept = 0;
    int code = list_commits(path, WORDS("for-each-ref", "--format=%(objectname)", "refs/bisect/skip-*"), &skipped, err);
    for (size_t i = 0; code == 0 && i < commits->count; i++)
        if (!is_in(&skipped, commits->hashes[i])) commits->hashes[kept++] = commits->hashes[i];
    if (code == 0) commits->count = kept;
    bisect_commits_free(&skipped);
    return code;
}

int bisect_git_left(const struct bisect_git *git, struct bisect_commits *commits, struct error *err) {
    char *path = tree_path(git, TREE_COMMIT);
    int code = list_commits(
        path, WORDS("rev-list", "--topo-order", "--reverse", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*"),
        commits, err);
    if (code == 0 && commits->count) commits->count--; /* the newest is refs/bisect/bad */
    if (code == 0) code = drop_skipped(path, commits, err);
    free(path);
    return code;
}

/* The hash in "# what: [HASH] subject"; NULL: the line is none of these. A subject cannot begin a line. */
static char *hash_in(const char *line, const char *what) {
    size_t size = strlen(what);
    if (strncmp(line, what, size) != 0) return NULL;
    const char *hash = line + size;
    return xasprintf("%.*s", (int)strcspn(hash, "]\n"), hash);
}

int bisect_git_conclusion(const struct bisect_git *git, struct bisect_conclusion *conclusion, struct error *err) {
    struct buffer log = {0};
    *conclusion = (struct bisect_conclusion){0};
    int code = bisect_git_log(git, &log, err);
    for (const char *line = buffer_text(&log); code == 0 && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char *found = hash_in(line, "# first bad commit: ["),
             *possible = hash_in(line, "# possible first bad commit: [");
        if (found) {
            free(conclusion->first_bad);
            conclusion->first_bad = found;
        }
        if (possible) buffer_printf(&conclusion->possible.text, "%s\n", possible);
        free(possible);
    }
    split_lines(&conclusion->possible);
    buffer_free(&log);
    return code;
}

void bisect_conclusion_free(struct bisect_conclusion *conclusion) {
    free(conclusion->first_bad);
    bisect_commits_free(&conclusion->possible);
    *conclusion = (struct bisect_conclusion){0};
}
