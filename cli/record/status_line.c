#include "cli/record/status_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/grid.h"
#include "base/units.h"

static const uint64_t least_pause_ns = 200000000; /* faster is not readable */

void status_line_start(struct status_line *line, bool is_wanted) {
    const char *kind = getenv("TERM");
    uint64_t now = clock_monotonic_ns();
    *line = (struct status_line){.started_ns = now, .last_ns = now};
    line->is_wanted = is_wanted && isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

/* One write, so that no output of the program comes between. */
static void put(const char *text, size_t size) {
    ssize_t ignored = write(STDERR_FILENO, text, size);
    (void)ignored;
}

/* The command has the terminal now, not the shell. A recorder has a session of its own (recorder_share.h), for which the kernel does not
 * say: it is in front while its supervisor is. */
static bool is_in_front(void) {
    pid_t front = tcgetpgrp(STDERR_FILENO);
    if (front >= 0) return front == getpgrp();
    char path[64], text[1024];
    int group, in_front;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[size] = '\0';
    const char *behind = strrchr(text, ')'); /* of the name, which may hold anything */
    return behind && sscanf(behind + 1, " %*c %*d %d %*d %*d %d", &group, &in_front) == 2 && group == in_front;
}

/* The rows of the terminal; 0 if nothing may be drawn now. */
static int usable_rows(int *columns) {
    struct winsize size;
    struct termios mode;
    if (!is_in_front() || tcgetattr(STDERR_FILENO, &mode) || !(mode.c_lflag & ICANON)) return 0;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_row < STATUS_ROWS_MIN) return 0;
    *columns = size.ws_col ? size.ws_col : 80;
    return size.ws_row;
}

/* The region without the last row. A line feed and back makes room first, where the cursor may be in that row.
 * Setting a region moves the cursor home, so it is saved around that. */
static void add_region(struct buffer *out, int rows) {
    buffer_printf(out, "\n\033[A\0337\033[1;%dr\0338", rows - 1);
}

/* Text beyond the terminal's width would wrap, and scroll. */
static void add_line(struct buffer *out, const char *text, int rows, int columns) {
    buffer_printf(out, "\0337\033[%d;1H\033[2m", rows);
    grid_visible(out, text, columns - 1);
    buffer_add_text(out, "\033[0m\033[K\0338");
}

bool status_line_is_due(const struct status_line *line) {
    return line->is_wanted && clock_monotonic_ns() - line->last_ns >= least_pause_ns;
}

void status_line_draw(struct status_line *line, const struct collector_totals *totals, bool is_paused) {
    int columns = 0;
    uint64_t now = clock_monotonic_ns();
    int rows = usable_rows(&columns);
    if (!rows) return;
    struct buffer out = {0}, text = {0};
    double seconds = (double)(now - line->last_ns) / 1e9;
    int64_t rate = (int64_t)((double)(totals->alloc_count - line->last_allocs) / seconds);
    buffer_printf(&text, "clear: %s%s | %s allocations/s | %s live | ",
                  units_ns((int64_t)(now - line->started_ns)).text, is_paused ? ", recording is off" : "",
                  units_count(rate).text, units_bytes((int64_t)(totals->alloc_bytes - totals->free_bytes)).text);
    buffer_printf(&text, "%s lock wait | ", units_ns((int64_t)totals->wait_ns).text);
    buffer_printf(&text, "flush %s", units_ns((int64_t)(totals->flush_ns - line->last_flush_ns)).text);
    if (line->rows != rows) add_region(&out, rows);
    add_line(&out, buffer_text(&text), rows, columns);
    put(out.data, out.size);
    line->rows = rows;
    line->last_ns = now;
    line->last_allocs = totals->alloc_count;
    line->last_flush_ns = totals->flush_ns;
    buffer_free(&out);
    buffer_free(&text);
}

void status_line_end(struct status_line *line) {
    struct buffer out = {0};
    if (!line->rows) return;
    buffer_printf(&out, "\0337\033[r\033[%d;1H\033[K\0338", line->rows);
    put(out.data, out.size);
    buffer_free(&out);
    line->rows = 0;
}

void status_line_repair(bool was_wanted) {
    struct status_line line;
    int columns;
    status_line_start(&line, was_wanted);
    line.rows = line.is_wanted ? usable_rows(&columns) : 0;
    status_line_end(&line);
}
