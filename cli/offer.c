#include "cli/offer.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lists.h"
#include "cli/manual/page.h"
#include "export/format.h"
#include "schema/kinds.h"
#include "schema/schema.h"

enum { WORD_MAX = 200 }; /* bytes of a word from the warehouse */

struct offer {
    const struct command *command;
    const char *typed;     /* the part of the last word that is completed */
    const char *before;    /* what stands in front of it in that word: "--format=", "tag:a=b," */
    const char *option_db; /* of --db; NULL: none was given */
    const char *query;     /* the first argument, NULL: it is the word that is typed */
    struct db *db;         /* NULL: it was not opened, or cannot be */
    bool was_opened;
};

static void put(const struct offer *offer, const char *word, const char *help) {
    if (strncmp(word, offer->typed, strlen(offer->typed)) != 0) return;
    printf("%s%s%s%s\n", offer->before, word, help ? "\t" : "", help ? help : "");
}

static void put_joined(const struct offer *offer, const char *start, const char *end, const char *help) {
    char *word = xasprintf("%s%s", start, end);
    put(offer, word, help);
    free(word);
}

/* ---- from the warehouse ---- */

static struct db *open_warehouse(struct offer *offer) {
    static struct db db;
    struct error err = {0};
    enum { PATIENCE_MS = 100 };
    /* A server may let a terminal wait. */
    if (!offer->was_opened && cli_find_config(&err) == 0 && !cli_is_store(offer->option_db) &&
        cli_open_within(&db, offer->option_db, DB_READ, PATIENCE_MS, &err) == 0)
        offer->db = &db;
    offer->was_opened = true;
    return offer->db;
}

/* The first column is the word, the second one, if there is one, the description. */
static void put_rows(struct offer *offer, const char *start, const char *sql) {
    struct error err = {0};
    struct db *db = open_warehouse(offer);
    sqlite3_stmt *row = db ? db_prepare(db, sql, &err) : NULL;
    while (row && db_step(db, row, &err) == 1) {
        const char *word = db_text(row, 0);
        /* Words with blanks or quotes would need the quoting of each shell, and a long one would fill the terminal. */
        if (*word && strlen(word) <= WORD_MAX && !word[strcspn(word, " \t\n'\"\\$`;&|<>(){}*?[]#~!")])
            put_joined(offer, start, word, sqlite3_column_count(row) > 1 ? db_text(row, 1) : NULL);
    }
}

static const char labels_sql[] = "SELECT DISTINCT label, 'label' FROM runs WHERE label IS NOT NULL ORDER BY label";
static const char tags_sql[] = "SELECT DISTINCT key || '=' || value, 'tag' FROM tags ORDER BY key, value";
static const char runs_sql[] = "SELECT id, command FROM runs ORDER BY id DESC LIMIT 20";

static void put_runs(struct offer *offer) {
    put(offer, "latest", "the newest run");
    put_rows(offer, "", labels_sql);
    put_rows(offer, "", tags_sql);
    put_rows(offer, "", runs_sql);
}

/* Of "tag:branch=main,la" what is typed is "la". */
static void put_sets(struct offer *offer) {
    const char *comma = strrchr(offer->typed, ',');
    struct offer item = *offer;
    char *before = NULL;
    if (comma) {
        item.before = before = xasprintf("%s%.*s", offer->before, (int)(comma + 1 - offer->typed), offer->typed);
        item.typed = comma + 1;
    }
    put_runs(&item);
    put(&item, "all", "all runs");
    put(&item, "last=", "the newest N runs");
    if (strncmp(item.typed, "all:", 4) == 0) put_rows(&item, "all:", labels_sql);
    if (strncmp(item.typed, "tag:", 4) == 0) put_rows(&item, "tag:", tags_sql);
    put(&item, "all:", "all runs with a label");
    put(&item, "tag:", "all runs with a tag");
    offer->db = item.db;
    offer->was_opened = item.was_opened;
    free(before);
}

static void put_kinds(struct offer *offer) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        put(offer, kinds[i].name, NULL);
    struct error err = {0};
    struct db *db = open_warehouse(offer);
    sqlite3_stmt *row = db ? db_prepare(db, "SELECT DISTINCT kind FROM profiles ORDER BY kind", &err) : NULL;
    while (row && db_step(db, row, &err) == 1)
        if (!kind_find(db_text(row, 0))->name) put(offer, db_text(row, 0), NULL);
}

/* Those of the latest run: it is what people ask about. */
static void put_figures(struct offer *offer) {
    struct error err = {0};
    struct db *db = open_warehouse(offer);
    sqlite3_stmt *row = db ? db_prepare(db, embedded_text("shell/figures.sql"), &err) : NULL;
    while (row && db_step(db, row, &err) == 1)
        put(offer, db_text(row, 0), NULL);
}

static void put_sample_types(struct offer *offer) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        for (size_t j = 0; kinds[i].types[j].type; j++)
            put(offer, kinds[i].types[j].type, NULL);
}

static void put_functions(struct offer *offer) {
    struct error err = {0};
    struct db *db = *offer->typed ? open_warehouse(offer) : NULL;
    sqlite3_stmt *row =
        db ? db_prepare(db, "SELECT DISTINCT name FROM functions WHERE substr(name, 1, length(:typed)) = :typed", &err)
           : NULL;
    if (row) db_bind_text(row, ":typed", offer->typed);
    while (row && db_step(db, row, &err) == 1) {
        const char *name = db_text(row, 0);
        if (!name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/")])
            put(offer, name, NULL);
    }
}

/* NAME=VALUE of the saved query that was named. */
static void put_parameters(struct offer *offer) {
    static const char run[] = "run=";
    struct error err = {0};
    if (strncmp(offer->typed, run, strlen(run)) == 0) {
        struct offer value = *offer;
        value.typed += strlen(run);
        value.before = run;
        put_runs(&value);
        return;
    }
    struct db *db = offer->query && *offer->query == '@' ? open_warehouse(offer) : NULL;
    static const char sql[] = "SELECT value ->> 'name' FROM queries, json_each(params) WHERE queries.name = :name";
    sqlite3_stmt *row = db ? db_prepare(db, sql, &err) : NULL;
    if (row) db_bind_text(row, ":name", offer->query + 1);
    while (row && db_step(db, row, &err) == 1)
        put_joined(offer, db_text(row, 0), "=", NULL);
}

/* ---- from clear's own tables ---- */

static void put_commands(const struct offer *offer) {
    for (const struct command *command = commands; command->name; command++)
        put(offer, command->name, command->help);
}

static void put_list(const struct offer *offer, const char *list) {
    struct manual_entry entry;
    for (size_t i = 0; lists_entry(list, i, &entry); i++) {
        struct buffer word = {0};
        page_plain(&word, entry.term, strlen(entry.term));
        word.data[strcspn(word.data, " ")] = '\0'; /* of a format, without its suffix */
        put(offer, buffer_text(&word), entry.text);
        buffer_free(&word);
    }
}

/* Of "peek=par" what is typed is "par"; false: it is another word. */
static bool put_pattern(struct offer *offer) {
    size_t size = strcspn(offer->typed, "=");
    const struct report_format *format;
    for (size_t i = 0; offer->typed[size] && (format = report_format_at(i)); i++) {
        if (strlen(format->name) != size || strncmp(format->name, offer->typed, size) != 0) continue;
        struct offer pattern = *offer;
        char *before = xasprintf("%.*s", (int)size + 1, offer->typed);
        pattern.before = before;
        pattern.typed += size + 1;
        put_functions(&pattern);
        free(before);
        return true;
    }
    return false;
}

static void put_options(const struct offer *offer) {
    const char *dashes = offer->command->is_go && strncmp(offer->typed, "--", 2) != 0 ? "-" : "--";
    for (struct option_walk walk = {.group = offer->command->options}; option_next(&walk);) {
        struct buffer help = {0};
        if (walk.row->help) page_plain(&help, walk.row->help, strlen(walk.row->help));
        if (walk.row->help) put_joined(offer, dashes, walk.row->name, buffer_text(&help));
        buffer_free(&help);
    }
}

/* ---- what a word of the tables stands for ---- */

static void put_files(struct offer *offer) {
    (void)offer;
    puts(":file");
}

static void put_directories(struct offer *offer) {
    (void)offer;
    puts(":directory");
}

static void put_programs(struct offer *offer) {
    (void)offer;
    puts(":program");
}

static void put_targets(struct offer *offer) {
    put_sets(offer);
    puts(":file");
}

static void put_first_of_report(struct offer *offer) {
    if (put_pattern(offer)) return;
    const struct report_format *format;
    for (size_t i = 0; (format = report_format_at(i)); i++)
        put_joined(offer, format->name, format->takes_pattern ? "=" : "", format->help);
    put_targets(offer);
}

static void put_labels(struct offer *offer) {
    put_rows(offer, "", labels_sql);
}

static void put_tags(struct offer *offer) {
    put_rows(offer, "", tags_sql);
}

static void put_tag_keys(struct offer *offer) {
    put_rows(offer, "", "SELECT DISTINCT key FROM tags ORDER BY key");
}

static void put_tables(struct offer *offer) {
    put_rows(offer, "", "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name");
}

static void put_queries(struct offer *offer) {
    put_rows(offer, "", "SELECT name, description FROM queries ORDER BY name");
}

static void put_saved(struct offer *offer) {
    put_rows(offer, "@", "SELECT name, description FROM queries ORDER BY name");
}

static void put_export_formats(struct offer *offer) {
    put_list(offer, "formats");
}

static void put_command_names(struct offer *offer) {
    put_commands(offer);
}

static void put_word(struct offer *offer, const char *word) {
    static const struct {
        const char *word;
        void (*put)(struct offer *offer);
    } known[] = {{"<file>", put_files},
                 {"<directory>", put_directories},
                 {"<program>", put_programs},
                 {"<run>", put_runs},
                 {"<runs>", put_sets},
                 {"<target>", put_targets},
                 {"<label>", put_labels},
                 {"<tag>", put_tags},
                 {"<tag-key>", put_tag_keys},
                 {"<kind>", put_kinds},
                 {"<figure>", put_figures},
                 {"<sample-type>", put_sample_types},
                 {"<table>", put_tables},
                 {"<function>", put_functions},
                 {"<query>", put_queries},
                 {"<saved>", put_saved},
                 {"<parameter>", put_parameters},
                 {"<export-format>", put_export_formats},
                 {"<report>", put_first_of_report},
                 {"<command>", put_command_names}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].word, word) == 0) {
            known[i].put(offer);
            return;
        }
    if (*word == '<') bug("nothing is offered for %s", word);
    put(offer, word, NULL);
}

/* Every word of a list, or the one at a position, of which the last one stands for all further ones; -1: every word. */
static void put_words(struct offer *offer, const char *words, int position) {
    for (int at = 0; words && *words; at++) {
        size_t size = strcspn(words, " ");
        bool is_last = !words[size];
        char *word = xasprintf("%.*s", (int)size, words);
        if (position < 0 || at == position || (is_last && at < position)) put_word(offer, word);
        free(word);
        words += size + strspn(words + size, " ");
    }
}

/* ---- the command line ---- */

/* The row of the option that begins the word, and the text behind its "=", or NULL. */
static const struct option_row *row_of(const struct command *command, const char *word, const char **value) {
    const char *name = word + strspn(word, "-");
    size_t size = strcspn(name, "=");
    bool is_long = name - word == 2 || command->is_go;
    *value = name[size] ? name + size + 1 : NULL;
    for (struct option_walk walk = {.group = command->options}; option_next(&walk);) {
        bool is_letter = size == 1 && walk.row->letter == *name;
        if (is_letter || (is_long && strlen(walk.row->name) == size && strncmp(walk.row->name, name, size) == 0))
            return walk.row;
    }
    return NULL;
}

static void note_option(struct offer *offer, const struct option_row *row, const char *value) {
    struct error ignored = {0};
    if (strcmp(row->name, "db") == 0) offer->option_db = value;
    if (strcmp(row->name, "config") == 0) cli_load_config(value, &ignored);
}

static void put_last(struct offer *offer, const char *word, int position, bool is_over) {
    const char *value = NULL;
    const struct option_row *row = is_over || *word != '-' ? NULL : row_of(offer->command, word, &value);
    offer->typed = word;
    if (row && value) {
        char *before = xasprintf("%.*s", (int)(value - word), word);
        offer->before = before;
        offer->typed = value;
        put_words(offer, row->words, -1);
        free(before);
    } else if (*word == '-' && !is_over) {
        put_options(offer);
    } else {
        put_words(offer, offer->command->arguments, position);
    }
}

/* The words behind the command's name. */
static void put_for_command(struct offer *offer, int count, char *const *words) {
    bool is_over = false;
    int position = 0;
    for (int i = 0; i < count - 1; i++) {
        const char *value = NULL;
        bool is_option = !is_over && words[i][0] == '-' && words[i][1];
        const struct option_row *row = is_option ? row_of(offer->command, words[i], &value) : NULL;
        if (strcmp(words[i], "--") == 0) {
            is_over = true;
        } else if (!is_option) {
            if (position++ == 0) offer->query = words[i];
            is_over = is_over || offer->command->stops;
        } else if (row && option_takes_value(row) && !value) {
            if (i + 2 == count) {
                offer->typed = words[i + 1];
                put_words(offer, row->words, -1);
                return;
            }
            value = words[++i];
        }
        if (row && value) note_option(offer, row, value);
    }
    put_last(offer, words[count - 1], position, is_over);
}

int offer_print(int count, char *const *words) {
    struct offer offer = {.typed = "", .before = ""};
    struct error err = {0};
    if (count > 2 && strcmp(words[0], "--config") == 0) {
        cli_load_config(words[1], &err);
        words += 2;
        count -= 2;
    }
    if (count == 0) return 0;
    offer.typed = words[0];
    if (count == 1) {
        put_commands(&offer);
        return 0;
    }
    offer.command = cli_find(words[0], &err);
    if (offer.command) put_for_command(&offer, count - 1, words + 1);
    if (offer.db) db_close(offer.db, &err);
    return 0;
}
