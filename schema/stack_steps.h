/* stack_steps.h: what statements of schema/facts ask about the steps of stacks, in SQL functions. `traces.stack` is a JSON array of location ids,
 * the leaf first. json_each takes 60 ns a step, which was half of storing 100,000 stacks of CPU samples.
 *
 *     locations_met(stack)       aggregate: a JSON array of all location ids of the stacks, each once; NULL: there are none
 *     first_step(stack, :own)    the position of the first step in the program's own code, 0 for the leaf; NULL: there is none
 *     first_step(stack, :raises) the same of steps of throwing an exception
 *     step_at(stack, position)   the location id there; NULL: the stack does not reach there, or `position` is NULL
 *
 * :own and :raises are the locations of the temporary table call_locations with `own` and with `raises` (facts/own.sql). */
#ifndef CLEAR_SCHEMA_STACK_STEPS_H
#define CLEAR_SCHEMA_STACK_STEPS_H

#include "schema/db.h"

/* Makes the functions, once a connection. */
int stack_steps_make(struct db *db, struct error *err);
/* Binds the sets that the statement names. They stay bound until it is bound again. */
int stack_steps_bind(struct db *db, sqlite3_stmt *statement, struct error *err);

#endif
