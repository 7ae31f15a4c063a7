/* many.h: rows that are put away several at a time, since a statement's start and end cost as much as a row of site_rows. */
#ifndef CLEAR_INGEST_MANY_H
#define CLEAR_INGEST_MANY_H

enum { MANY = 16 };
#define FOUR(row)      row ", " row ", " row ", " row
#define MANY_ROWS(row) FOUR(FOUR(row)) /* of VALUES; every parameter is a plain `?` */

#endif
