/* talk.h - a process of its own that answers lines with lines. */
#ifndef BENCH_TALK_H
#define BENCH_TALK_H

#include <stddef.h>
#include <sys/types.h>

typedef struct {
    pid_t pid; /* 0: not started; -1: gone */
    int to, from;
} bench_talk;

/* Start argv[0] with its stdin and stdout on pipes; quiet: what it says on
 * stderr is dropped. 0 when it does not start. */
int bench_talk_start(bench_talk *t, char *const *argv, int quiet);

/* Say `question`, which ends with a line's end. 0: it is gone. */
int bench_talk_say(bench_talk *t, const char *question);
/* One line without its end. 0: none came in so many seconds; then the
 * process is ended. */
int bench_talk_hear(bench_talk *t, char *line, size_t size, double seconds);
/* Both. */
int bench_talk_ask(bench_talk *t, const char *question, char *answer,
                   size_t size, double seconds);

/* Kill it, if it is there. */
void bench_talk_end(bench_talk *t);
/* Close its stdin and wait for it to end by itself. */
void bench_talk_close(bench_talk *t);

#endif
