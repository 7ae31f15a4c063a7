/* run_text.h: a run as text: run.txt.gz of a directory NAME.profile/, written by export/run_rows.c and read by format_run_text.
 *
 * The profiles beside it are for pprof, whose samples have no place for half of what a run knows: windows, temporaries, small calls, ends of
 * threads, wakes in vain, waits that never ended, events. So the rows of the run travel too, as they are in the tables, and facts and findings
 * are made of them anew. Lines, after the title:
 *
 *     # schema: N                       the version of the tables that wrote it
 *     # table: NAME COLUMN...           before the first row of a table; fields are parted by tabs
 *     NAME VALUE...                     a row; \\ \t \n \r stand for themselves, \N is NULL
 *     # end: N                          how many rows there were
 *
 * A table or column that the reader does not know is passed over, and a column that is missing has the default of the schema, so neither an
 * older nor a newer clear is in the way. Ids are numbers from 1 in the order in which an export lists what they name: the same run gives the
 * same bytes out of every warehouse. What is made of other rows (facts, totals, signatures) is not in it, and no pin, which is about a file. */
#ifndef CLEAR_INGEST_READ_RUN_TEXT_H
#define CLEAR_INGEST_READ_RUN_TEXT_H

#define RUN_TEXT_FILE   "run.txt.gz"
#define RUN_TEXT_TITLE  "# run-profile v1"
#define RUN_TEXT_SCHEMA "# schema: "
#define RUN_TEXT_TABLE  "# table: "
#define RUN_TEXT_END    "# end: "

#endif
