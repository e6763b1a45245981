/* self.c - this program again, as a fresh process. */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prove/prove.h"

int prove_self(const char *said, const char *const word[PROVE_WORDS])
{
    int status = 1, fd;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
            _exit(127);
        close(fd);
        execl("/proc/self/exe", "bench-prove", word[0], word[1], word[2],
              word[3], word[4], (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}
