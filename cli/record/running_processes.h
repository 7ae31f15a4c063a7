/* running_processes.h: the processes that run already and are recorded: which they are, and the steps of entering and leaving them. */
#ifndef CLEAR_CLI_RECORD_RUNNING_PROCESSES_H
#define CLEAR_CLI_RECORD_RUNNING_PROCESSES_H

#include "cli/record/profiling.h"
#include "ingest/attach/attach.h"

struct running_process {
    struct attached attached;
    uint64_t modules; /* that it had when the hooks were put in: a sum over its mappings */
    bool is_recorded; /* it was entered */
    bool is_child;    /* of one that was, since then */
    char *unseen;     /* allocators in it that no hook sees; NULL: none is known */
    char *outside;    /* why it was not, and is recorded from outside; NULL: it is not */
};

struct running_processes {
    struct profiling *recording;
    struct running_process *processes;
    size_t count;
    int64_t looked_ns;
};

/* Those of the request's names join its pids; an error where a name has none, or one cannot be attached to. */
int running_find(struct profile_request *request, struct error *err);
/* The command line of a process; its words are NULL-terminated and the caller's, each of them too. */
char **running_command(pid_t pid);
/* Its file, or the link beside it that has the process's name and leads there. free() it. */
char *running_program(pid_t pid);

/* Puts the hooks into all; what cannot be entered is recorded from outside, where the kernel allows that. An error where no process is recorded. */
int running_begin(struct running_processes *running, struct error *err);
/* Now and then: hooks what they have loaded since then. */
void running_look_again(struct running_processes *running);
/* Takes the hooks out, of what they forked meanwhile too. */
void running_end(struct running_processes *running);
/* Once no thread is within a hook: unmaps what is left of us. */
void running_leave(struct running_processes *running);

/* Whether a process that is recorded from outside has not ended. */
bool running_outside_runs(const struct running_processes *running);

/* For how long the oldest ran before (ns, 0: unknown), and what all of them had allocated then. */
struct collector_before running_before(const struct running_processes *running);
/* Comments of the run, which its profiles carry: since when, and which processes are recorded from outside (NULL: none). free() them. */
char *running_since_text(const struct running_processes *running);
char *running_outside_text(const struct running_processes *running);
/* What the steps keep. */
void running_free(struct running_processes *running);

#endif
