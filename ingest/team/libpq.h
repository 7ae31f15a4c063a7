/* libpq.h: PostgreSQL's client library, loaded when a store is first asked for: clear runs without it. */
#ifndef CLEAR_INGEST_TEAM_LIBPQ_H
#define CLEAR_INGEST_TEAM_LIBPQ_H

#include <postgresql/libpq-fe.h>

#include "base/error.h"

/* Member of struct pq_library, function of the library. */
#define PQ_FUNCTIONS(X)                                                                                                \
    X(parse, PQconninfoParse)                                                                                          \
    X(options, PQconninfo)                                                                                             \
    X(free_options, PQconninfoFree)                                                                                    \
    X(free_memory, PQfreemem)                                                                                          \
    X(start, PQconnectStartParams)                                                                                     \
    X(connect, PQconnectdbParams)                                                                                      \
    X(finish, PQfinish)                                                                                                \
    X(status, PQstatus)                                                                                                \
    X(message, PQerrorMessage)                                                                                         \
    X(set_notices, PQsetNoticeProcessor)                                                                               \
    X(execute, PQexecParams)                                                                                           \
    X(execute_many, PQexec)                                                                                            \
    X(result_status, PQresultStatus)                                                                                   \
    X(result_field, PQresultErrorField)                                                                                \
    X(clear_result, PQclear)                                                                                           \
    X(prepare, PQprepare)                                                                                              \
    X(describe, PQdescribePrepared)                                                                                    \
    X(send, PQsendQueryPrepared)                                                                                       \
    X(row_by_row, PQsetSingleRowMode)                                                                                  \
    X(column_name, PQfname)                                                                                            \
    X(column_type, PQftype)                                                                                            \
    X(rows, PQntuples)                                                                                                 \
    X(columns, PQnfields)                                                                                              \
    X(is_null, PQgetisnull)                                                                                            \
    X(value, PQgetvalue)                                                                                               \
    X(affected, PQcmdTuples)                                                                                           \
    X(get_copy, PQgetCopyData)                                                                                         \
    X(put_copy, PQputCopyData)                                                                                         \
    X(end_copy, PQputCopyEnd)                                                                                          \
    X(result, PQgetResult)                                                                                             \
    X(version, PQserverVersion)

struct pq_library {
#define PQ_MEMBER(name, symbol) __typeof__(&symbol) name;
    PQ_FUNCTIONS(PQ_MEMBER)
#undef PQ_MEMBER
};

extern struct pq_library pq; /* usable after pq_load */

int pq_load(struct error *err);

#endif
