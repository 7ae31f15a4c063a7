#include "cli/record/detach.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ingest/record/supervisor_link.h"

void detach_recorder(int link, int wait_status, const char *log) {
    int input = open("/dev/null", O_RDWR | O_CLOEXEC);
    int output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    dup2(input, STDIN_FILENO);
    dup2(output < 0 ? input : output, STDOUT_FILENO);
    dup2(output < 0 ? input : output, STDERR_FILENO);
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    link_tell(link, &(struct link_message){.word = LINK_DETACHED, .wait_status = wait_status});
    close(link);
}
