/* place.h: which line of the sources a row of a gate is about. */
#ifndef CLEAR_QUERY_GATE_PLACE_H
#define CLEAR_QUERY_GATE_PLACE_H

#include "query/gate/gate.h"

/* Sets file, line and blame of the rows that are no pass, at most of the first 100. A row that has them already is left alone. */
int place_rows(struct gate *gate, struct error *err);

#endif
