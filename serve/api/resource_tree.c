/* resource_tree.c: /api/tree: the call tree, made once for a selection and answered from in pieces. */
#include <inttypes.h>
#include <microhttpd.h>
#include <string.h>

#include "query/profile/packed/packed_search.h"
#include "serve/api/resource.h"
#include "serve/trees.h"

static const struct api_parameter tree_parameters[] = {
    {"root", API_OWN, NULL},        {"width", API_OWN, NULL},  {"inverted", API_SWITCH, "inverted"},
    {"pivot", API_OPTION, "pivot"}, {"search", API_OWN, NULL}, {0}};

enum { WIDTH = 1200, WIDTH_MAX = 1000000000 /* all of a tree, within the limits of nodes and bytes */ };

/* What matches below a node. */
static int add_found(const struct packed_tree *tree, uint64_t root, const char *regex, struct buffer *body,
                     struct error *err) {
    struct packed_found found;
    if (packed_tree_search(tree, root, regex, &found, err)) return -1;
    buffer_printf(body, "{\"count\":%" PRIu64 ",\"value\":%" PRId64, found.count, found.value);
    if (tree->base_totals) buffer_printf(body, ",\"base\":%" PRId64, found.base);
    buffer_add_text(body, "}\n");
    return 0;
}

static void reply_tree(struct exchange *exchange, const struct packed_tree *tree) {
    struct error err = {0};
    struct buffer body = {0};
    const char *regex = api_value(exchange, "search");
    uint32_t node;
    int64_t width, root;
    if (api_number(exchange, "width", 1, WIDTH_MAX, WIDTH, &width, &err) ||
        api_number(exchange, "root", 1, INT64_C(1) << 53, PACKED_TREE_ROOT, &root, &err)) {
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
    } else if (regex ? add_found(tree, (uint64_t)root, regex, &body, &err)
                     : packed_tree_cut(tree, (uint64_t)root, width, &body, &err)) {
        bool has_root = packed_tree_find(tree, (uint64_t)root, &node);
        exchange_failed(exchange, has_root ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_NOT_FOUND, &err);
    } else {
        exchange->reply.status = MHD_HTTP_OK;
        exchange->reply.type = "application/json";
        exchange->reply.is_sized = true;
        exchange->reply.body = body;
        return;
    }
    buffer_free(&body);
}

static int make_tree(struct exchange *exchange, struct error *err) {
    struct trees *trees = &exchange->server->trees;
    struct db *db = warehouse_db(exchange->server, err);
    if (!db || api_report(exchange, "packed", err)) return -1;
    exchange->job->to_file = true;
    api_name_kept(exchange, db->path);
    trees_check(trees, db->path);
    const struct packed_tree *tree = trees_find(trees, exchange->kept_as);
    if (tree) reply_tree(exchange, tree);
    return 0;
}

static void finish_tree(struct exchange *exchange) {
    struct error err = {0};
    const struct packed_tree *tree = trees_keep(&exchange->server->trees, exchange->kept_as, exchange->job->file, &err);
    if (tree)
        reply_tree(exchange, tree);
    else
        exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &err);
}

const struct resource resource_tree = {{api_runs, api_selection, api_filters, tree_parameters}, make_tree, finish_tree};
