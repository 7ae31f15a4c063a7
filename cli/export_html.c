#include "cli/export_html.h"

#include "base/units.h"
#include "cli/cli.h"
#include "cli/passing.h"
#include "cli/run_or_file.h"
#include "export/file.h"
#include "serve/page/page_file.h"

/* Bytes of the file: what a mail takes, and a browser reads in a moment. */
enum { MOST = 5 << 20 };

static int open_warehouse(void *context, struct db *db, struct error *err) {
    return cli_open(db, context, DB_READ, err);
}

/* The server's commands read a warehouse by its path: files are read into one, and runs of a store fetched into one. */
static int find_warehouse(struct export_html *request, struct passing *passing, struct error *err) {
    if (cli_is_store(request->db)) {
        char *both = xasprintf("%s%s%s", request->run, request->base ? "," : "", request->base ? request->base : "");
        int code = passing_make(passing, err) || cli_fetch(request->db, passing->db, both, err) ? -1 : 0;
        free(both);
        return code;
    }
    struct targets targets = {.option = request->db};
    int is_file = targets_is_file(&targets, request->run, err);
    if (targets_close(&targets, err) || is_file < 0) return -1;
    if (!is_file) return 0;
    if (request->base) return error_usage(err, "a file has no base: clear ingest puts both into a warehouse");
    if (passing_read(passing, request->run, NULL, NULL, err)) return -1;
    request->run = "latest";
    return 0;
}

static int write_page(const char *output, const struct buffer *page, struct error *err) {
    struct file file;
    if (file_open(&file, output, false, err)) return -1;
    if (file_write(&file, page->data, page->size, err) == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

/* What had no room is not lost silently: the pages say so too. */
static void say_left_out(const struct page_file *file) {
    if (!file->left_out) return;
    error_print("%zu answers had no room in %d MiB: the pages that miss them say so", file->left_out, MOST >> 20);
}

static int make_page(const struct export_html *request, const struct passing *passing, struct buffer *page,
                     struct error *err) {
    const struct server_source source = {.open = open_warehouse,
                                         .source_path = request->source_path,
                                         .config = cli_config()->path,
                                         .context = (void *)(uintptr_t)(passing->db ? passing->db : request->db)};
    struct page_file file = {.source = &source, .run = request->run, .base = request->base, .most = MOST};
    if (page_file_make(&file, page, err)) return -1;
    say_left_out(&file);
    return 0;
}

int export_html(const struct export_html *given, struct error *err) {
    struct export_html request = *given;
    struct passing passing = {0};
    struct buffer page = {0};
    int code = find_warehouse(&request, &passing, err);
    if (code == 0) code = make_page(&request, &passing, &page, err);
    passing_remove(&passing);
    if (code == 0) code = write_page(request.output, &page, err);
    buffer_free(&page);
    return code;
}
