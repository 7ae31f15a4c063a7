/* resources.c: the table of the resources of the API (docs/api.md). */
#include <microhttpd.h>

#include "serve/api/resource.h"

#define READ (METHOD_GET | METHOD_HEAD)

#define GET(name_)                                                                                                     \
    { #name_, READ, api_answer, .resource = &resource_##name_ }

const struct route api_routes[] = {
    GET(server),
    GET(runs),
    GET(run),
    GET(tree),
    GET(table),
    GET(source),
    GET(disasm),
    GET(series),
    GET(changes),
    GET(graph),
    GET(schema),
    GET(overview),
    GET(findings),
    GET(compare),
    {"rows", METHOD_POST, api_answer, .resource = &resource_rows},
    GET(queries),
    GET(objects),
    GET(windows),
    GET(live),
    GET(export),
    GET(timeline),
    {NULL, READ, api_answer},
};
