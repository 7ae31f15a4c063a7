/* offer.h: what a shell can complete a word of clear's command line to: `clear help --complete`.
 *
 * The tables say what to offer: option_row.words has alternatives, command.arguments has one a position, of which the last
 * one goes for all further words. A plain word is offered as it is. The others are
 *   <file> <directory> <program>       left to the shell
 *   <run> <runs> <target>              runs of the warehouse; sets of runs too; files too
 *   <label> <tag> <tag-key> <kind> <figure> <sample-type> <table> <function>   what the warehouse has
 *   <query> <saved> <parameter>        saved queries; with @ in front; the parameters of the one that was named
 *   <export-format> <report> <command> what clear has */
#ifndef CLEAR_CLI_OFFER_H
#define CLEAR_CLI_OFFER_H

/* To standard output, a line each: WORD, or WORD<tab>DESCRIPTION, for the last of `words`, which is being typed.
 * Lines that begin with ":" are for the shell: ":file", ":directory", ":program" mean that it shall add those. Words
 * are those behind `clear`. Always 0: where something cannot be read, less is offered. */
int offer_print(int count, char *const *words);

#endif
