#include "cli/git_tags.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/owner.h"

enum { LEVELS_MAX = 64, LINE_MAX_SIZE = 4096, SHA1_DIGITS = 40, SHA256_DIGITS = 64, DIRTY_SECONDS = 1 };

/* ---- files of the repository ---- */

static bool is_trusted(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && owner_is_trusted(about.st_uid);
}

/* For reading; NULL where it is no regular file, such as a FIFO, which would keep us waiting. */
static FILE *open_regular(const char *path) {
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return NULL;
    FILE *file = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) ? fdopen(descriptor, "r") : NULL;
    if (!file) close(descriptor);
    return file;
}

/* A regular file's first line that begins with `start`, without it; NULL: there is none. free() it. */
static char *line_of(const char *path, const char *start) {
    char line[LINE_MAX_SIZE];
    size_t size = strlen(start);
    char *found = NULL;
    FILE *file = open_regular(path);
    if (!file) return NULL;
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, start, size) == 0) found = xstrdup(line + size);
    }
    fclose(file);
    return found;
}

/* `path` as seen from `directory`. */
static char *path_from(const char *directory, const char *path) {
    return *path == '/' ? xstrdup(path) : xasprintf("%s/%s", directory, path);
}

static bool is_hash(const char *text) {
    size_t size = strlen(text);
    return (size == SHA1_DIGITS || size == SHA256_DIGITS) && strspn(text, "0123456789abcdef") == size;
}

/* ---- where it is ---- */

/* .git is a directory, or a file that says where it is: in a work tree of `git worktree`, in a submodule. */
static bool take_directory(struct git_state *state, char *git) {
    struct stat about;
    if (lstat(git, &about) != 0 || !is_trusted(git)) {
        free(git);
        return false;
    }
    char *said = S_ISREG(about.st_mode) ? line_of(git, "gitdir: ") : NULL;
    state->directory = said ? path_from(state->top, said) : xstrdup(git);
    free(said);
    free(git);
    char *common = xasprintf("%s/commondir", state->directory), *elsewhere = line_of(common, "");
    free(common);
    state->common = elsewhere ? path_from(state->directory, elsewhere) : xstrdup(state->directory);
    free(elsewhere);
    return is_trusted(state->directory) && is_trusted(state->common);
}

static bool find_directory(struct git_state *state) {
    state->top = getcwd(NULL, 0);
    for (int level = 0; state->top && level < LEVELS_MAX; level++) {
        char *git = xasprintf("%s/.git", state->top);
        if (access(git, F_OK) == 0) return take_directory(state, git);
        free(git);
        char *slash = strrchr(state->top, '/');
        if (!slash || !state->top[1]) return false;
        slash[slash == state->top] = '\0';
    }
    return false;
}

/* ---- the commit ---- */

static char *hash_in(const char *directory, const char *name) {
    char *path = xasprintf("%s/%s", directory, name), *hash = line_of(path, "");
    free(path);
    return hash;
}

/* "HASH NAME" */
static char *packed_hash(const char *directory, const char *name) {
    char *path = xasprintf("%s/packed-refs", directory), *found = NULL, line[LINE_MAX_SIZE];
    FILE *file = open_regular(path);
    free(path);
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        char *space = strchr(line, ' ');
        if (!space || strcmp(space + 1, name) != 0) continue;
        *space = '\0';
        found = xstrdup(line);
    }
    if (file) fclose(file);
    return found;
}

static void read_commit(struct git_state *state) {
    static const char branches[] = "refs/heads/";
    char *head = hash_in(state->directory, "HEAD");
    if (!head) return;
    if (strncmp(head, "ref: ", 5) != 0) {
        state->commit = head;
    } else {
        const char *name = head + 5;
        if (strncmp(name, "refs/", 5) == 0 && !strstr(name, "..")) {
            state->commit = hash_in(state->common, name);
            if (!state->commit) state->commit = packed_hash(state->common, name);
        }
        if (state->commit && strncmp(name, branches, sizeof branches - 1) == 0)
            state->branch = xstrdup(name + sizeof branches - 1);
        free(head);
    }
    if (state->commit && is_hash(state->commit)) return;
    free(state->commit);
    free(state->branch);
    state->commit = state->branch = NULL;
}

void git_state_read(struct git_state *state) {
    *state = (struct git_state){0};
    if (find_directory(state)) read_commit(state);
}

void git_state_free(struct git_state *state) {
    free(state->top);
    free(state->directory);
    free(state->common);
    free(state->commit);
    free(state->branch);
    *state = (struct git_state){0};
}

/* ---- is it as it was committed? ---- */

static bool write_text(const char *directory, const char *name, const char *text) {
    char *path = xasprintf("%s/%s", directory, name);
    FILE *file = fopen(path, "wxe");
    bool is_written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) is_written = false;
    free(path);
    return is_written;
}

/* What git takes for a repository, with nothing in its configuration but the kind of hash. */
static bool make_repository(const char *directory, bool is_sha256) {
    static const char config[] = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n";
    char *refs = xasprintf("%s/refs", directory);
    bool is_made = mkdir(refs, 0700) == 0 && write_text(directory, "HEAD", "ref: refs/heads/none\n") &&
                   (!is_sha256 || write_text(directory, "config", config));
    free(refs);
    return is_made;
}

static void remove_repository(const char *directory) {
    static const char *const names[] = {"HEAD", "config", "refs", NULL};
    for (size_t i = 0; names[i]; i++) {
        char *path = xasprintf("%s/%s", directory, names[i]);
        (void)remove(path);
        free(path);
    }
    (void)rmdir(directory);
}

static int ask_git(const struct git_state *state, const char *repository) {
    static const struct child_limits limits = {.output_max = 1 << 20, .seconds = DIRTY_SECONDS, .group = CHILD_GROUP};
    const char *path = getenv("PATH");
    char *words[] = {xasprintf("PATH=%s", path ? path : "/usr/bin:/bin"), xasprintf("GIT_DIR=%s", repository),
                     xasprintf("GIT_WORK_TREE=%s", state->top), xasprintf("GIT_INDEX_FILE=%s/index", state->directory),
                     xasprintf("GIT_OBJECT_DIRECTORY=%s/objects", state->common)};
    const char *const arguments[] = {"env",
                                     "-i",
                                     words[0],
                                     words[1],
                                     words[2],
                                     words[3],
                                     words[4],
                                     "GIT_CONFIG_NOSYSTEM=1",
                                     "GIT_CONFIG_GLOBAL=/dev/null",
                                     "GIT_ATTR_NOSYSTEM=1",
                                     "GIT_OPTIONAL_LOCKS=0",
                                     "GIT_NO_LAZY_FETCH=1",
                                     "git",
                                     "-C",
                                     state->top,
                                     "diff",
                                     "--name-only",
                                     "--no-ext-diff",
                                     "--no-textconv",
                                     "--ignore-submodules=all",
                                     state->commit,
                                     "--",
                                     NULL};
    struct buffer out = {0};
    struct error ignored = {0};
    enum child_end end = child_read(arguments, NULL, &limits, &out, &ignored);
    int is_dirty = out.size ? 1 : end == CHILD_DONE ? 0 : -1;
    buffer_free(&out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        free(words[i]);
    return is_dirty;
}

int git_state_is_dirty(const struct git_state *state) {
    const char *parent = getenv("TMPDIR");
    if (!state->commit) return -1;
    char *repository = xasprintf("%s/clear-git.XXXXXX", parent && *parent ? parent : "/tmp");
    int is_dirty = -1;
    if (mkdtemp(repository)) {
        if (make_repository(repository, strlen(state->commit) == SHA256_DIGITS)) is_dirty = ask_git(state, repository);
        remove_repository(repository);
    }
    free(repository);
    return is_dirty;
}
