/* work.c - take a job, do it in a child, bring it back; again.
 *
 * The child has no connection and prints nothing; what it measured comes
 * through a pipe. So a job that crashes, hangs or eats the memory is one that
 * failed, and the parent gives signs of life whatever the child is at. When
 * the parent is killed the kernel ends the child. */
#define _GNU_SOURCE /* prctl, pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fleet/internal.h"

/* How long a child may run beyond the job's own seconds: making the matrix,
 * checking, compiling. */
static const double GRACE = 120, GRACE_SHARE = 1;

typedef struct {
    spry_fleet *f;
    spry_fleet_work_options opt;
    spry_machine machine;
    sp_matrix_files *files;
    spry_fleet_worked *out;
    sp_enrolled who;
    int doubts; /* jobs in a row that failed here, perhaps elsewhere not */
    double begun;
    sp_rng rng;
} worker;

static int asked_to_stop(void *payload)
{
    worker *w = payload;

    w->out->seconds = sp_seconds() - w->begun;
    return w->opt.progress && w->opt.progress(w->out, w->opt.payload);
}

/* ---- the child ---- */

static void write_all(int fd, const void *data, size_t n)
{
    const char *at = data;

    while (n > 0) {
        ssize_t k = write(fd, at, n);

        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            _exit(1);
        at += k;
        n -= (size_t)k;
    }
}

/* Bytes of data that this process has mapped: a sanitizer's shadow is some
 * terabytes of them. */
static rlim_t data_mapped(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f)
        return 0;
    if (fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
        pages = 0;
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Not more than a share of what the machine has: others live there, too. */
static const double MEMORY_SHARE = 0.5;

static void limit_child(const spry_machine *m)
{
    rlim_t most = data_mapped() + (rlim_t)(MEMORY_SHARE * (double)m->memory);
    struct rlimit memory = {most, most};
    struct rlimit none = {0, 0};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGTERM, SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    if (m->memory > 0)
        setrlimit(RLIMIT_DATA, &memory);
}

/* A letter, then the records or the sentence. */
static void be_child(const worker *w, const sp_fleet_job *e, int fd,
                     pid_t parent)
{
    sp_buf json = {0};
    spry_status s;

    limit_child(&w->machine);
    if (getppid() != parent)
        _exit(1);
    sp_postgres_abandon(w->f->server);
    s = sp_fleet_job_run(&json, e);
    if (s == SPRY_OK && !json.failed) {
        write_all(fd, "+", 1);
        write_all(fd, json.data, json.len);
    } else {
        const char *why = spry_message();

        write_all(fd, s == SPRY_SYSTEM ? "?" : "-", 1);
        write_all(fd, why, strlen(why));
    }
    close(fd);
    _exit(0);
}

/* ---- the parent ---- */

typedef enum {
    FINISHED, /* the child said all it had to say */
    ENDED,    /* it ended without */
    OVERDUE,  /* it was ended: too slow */
    LOST,     /* it was ended: the job is another's by now */
    STOPPED   /* it was ended: we were asked to stop */
} ending;

/* A lease, and when it wants its next sign of life. */
typedef struct {
    worker *w;
    const sp_lease *l;
    double beat;
} pulse;

static pulse pulse_of(worker *w, const sp_lease *l)
{
    return (pulse){w, l, sp_seconds() + l->lease / 3};
}

/* A sign of life if it is time. A server that is away now may be back when it
 * matters. */
static int still_ours(pulse *p)
{
    int ours = 1;

    if (sp_seconds() <= p->beat)
        return 1;
    sp_postgres_patience(p->w->f->server, 1, asked_to_stop, p->w);
    if (sp_queue_beat(p->w->f->server, &p->w->who, p->l, &ours) != SPRY_OK)
        ours = 1;
    p->beat = sp_seconds() + p->l->lease / 3;
    return ours;
}

/* What there is in the pipe; 0 at its end. */
static int read_more(sp_buf *said, int fd)
{
    char piece[1 << 14];
    ssize_t n = read(fd, piece, sizeof piece);

    if (n > 0)
        sp_buf_bytes(said, piece, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static ending attend(worker *w, sp_buf *said, const sp_lease *l, int fd,
                     double deadline)
{
    pulse alive = pulse_of(w, l);

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, 100);
        double now = sp_seconds();

        if (n > 0 && !read_more(said, fd))
            return said->len > 0 && !said->failed ? FINISHED : ENDED;
        if (now > deadline)
            return OVERDUE;
        if (asked_to_stop(w))
            return STOPPED;
        if (!still_ours(&alive))
            return LOST;
    }
}

/* The job in a child; what it said, and how it ended. */
static spry_status send_child(worker *w, sp_buf *said, ending *how, int *code,
                              const sp_lease *l, const sp_fleet_job *e)
{
    int fd[2];
    pid_t parent = getpid(), child;

    if (pipe2(fd, O_CLOEXEC) != 0)
        return sp_fail_errno(SPRY_SYSTEM, "no pipe for a job");
    sp_fork_watch();
    child = fork();
    if (child == 0) {
        close(fd[0]);
        be_child(w, e, fd[1], parent);
    }
    close(fd[1]);
    if (child < 0) {
        close(fd[0]);
        return sp_fail_errno(SPRY_SYSTEM, "no process for a job");
    }
    *how = attend(w, said, l, fd[0],
                  sp_seconds() + GRACE + (1 + GRACE_SHARE) * e->job->seconds);
    close(fd[0]);
    if (*how != FINISHED && *how != ENDED)
        kill(child, SIGKILL);
    while (waitpid(child, code, 0) < 0 && errno == EINTR)
        continue;
    if (*how == FINISHED && *code != 0)
        *how = ENDED; /* in the middle of it */
    return SPRY_OK;
}

/* ---- bringing it back ---- */

/* Whatever it takes: it was measured. */
static void be_patient(worker *w)
{
    sp_postgres_patience(w->f->server, 1e9, asked_to_stop, w);
}

static spry_status give_back(worker *w, const sp_lease *l, const char *why,
                             sp_blame blame)
{
    char reason[400];

    snprintf(reason, sizeof reason, "%s", why);
    for (char *p = reason; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    be_patient(w);
    w->out->failed += blame == SP_BLAME_JOB;
    w->doubts += blame == SP_BLAME_PERHAPS;
    return sp_queue_fail(w->f->server, &w->who, l, reason, blame);
}

static spry_status deliver(worker *w, const sp_lease *l, const sp_buf *said,
                           double seconds)
{
    int ours = 0;
    int64_t added = 0;
    spry_status s;

    be_patient(w);
    s = sp_queue_finish(w->f->server, &w->who, l, said->data + 1, seconds,
                        &ours, &added);
    if (s != SPRY_OK)
        return s;
    w->doubts = 0;
    w->out->done += ours;
    w->out->late += !ours;
    w->out->rows += added;
    return SPRY_OK;
}

static spry_status conclude(worker *w, const sp_lease *l, const sp_buf *said,
                            ending how, int code, double seconds)
{
    char why[120];

    if (how == FINISHED && *said->data == '+')
        return deliver(w, l, said, seconds);
    if (how == FINISHED) /* '?': another machine may have what it takes */
        return give_back(w, l, said->data + 1,
                         *said->data == '-' ? SP_BLAME_JOB : SP_BLAME_PERHAPS);
    if (how == LOST) {
        w->out->late++;
        return SPRY_OK;
    }
    if (how == STOPPED)
        return give_back(w, l, "the worker was asked to stop", SP_BLAME_NOBODY);
    if (how == ENDED)
        snprintf(why, sizeof why, "the job's process ended by signal %d",
                 WIFSIGNALED(code) ? WTERMSIG(code) : 0);
    else
        snprintf(why, sizeof why, "the job did not end in time");
    return give_back(w, l, why, SP_BLAME_PERHAPS);
}

/* ---- one job ---- */

/* While a matrix comes from the server. */
static int may_go_on(void *payload)
{
    pulse *p = payload;
    int ours = still_ours(p);

    be_patient(p->w);
    return ours && !asked_to_stop(p->w);
}

/* The file of a job that names one. */
static spry_status find_matrix(char path[4096], worker *w, const sp_lease *l,
                               const char *hash)
{
    pulse alive = pulse_of(w, l);

    be_patient(w);
    return sp_matrix_files_find(path, w->files, w->f->server, hash, may_go_on,
                                &alive);
}

/* The machine of a job: fewer threads than there are, if it says so. */
static spry_status limit_machine(spry_machine *m, const spry_job *j)
{
    return j->threads > 0 && j->threads < m->threads
               ? spry_machine_limit(m, j->threads, m->isa)
               : SPRY_OK;
}

static spry_status do_job(worker *w, const sp_lease *l)
{
    spry_machine machine = w->machine;
    char file[4096];
    char folder[SP_JOB_FOLDER] = "";
    spry_job job;
    sp_fleet_job e = {&job, &machine, NULL, folder};
    sp_buf said = {0};
    ending how = ENDED;
    int code = 0;
    double begun = sp_seconds();
    spry_status s = spry_job_parse(&job, l->work);

    if (s != SPRY_OK)
        return give_back(w, l, spry_message(), SP_BLAME_JOB);
    s = limit_machine(&machine, &job);
    if (s == SPRY_OK && strncmp(job.matrix, "sha256:", 7) == 0) {
        s = find_matrix(file, w, l, job.matrix);
        e.matrix = file;
    }
    if (s == SPRY_STOPPED) /* or another's by now, and this changes nothing */
        return give_back(w, l, "the worker was asked to stop", SP_BLAME_NOBODY);
    if (s == SPRY_INPUT || s == SPRY_USAGE)
        return give_back(w, l, spry_message(), SP_BLAME_PERHAPS);
    if (s == SPRY_OK && job.kind == SPRY_JOB_TUNE &&
        sp_job_folder_make(folder) != SPRY_OK)
        return give_back(w, l, spry_message(), SP_BLAME_PERHAPS);
    if (s == SPRY_OK)
        s = send_child(w, &said, &how, &code, l, &e);
    if (*folder)
        sp_job_folder_remove(folder);
    if (s == SPRY_OK)
        s = conclude(w, l, &said, how, code, sp_seconds() - begun);
    sp_buf_free(&said);
    return s;
}

/* ---- the loop ---- */

/* Between half and one and a half times as long, so that workers that were
 * started together do not ask together. */
static void pause_for(worker *w, double seconds)
{
    double until = sp_seconds() + seconds * (0.5 + sp_rng_unit(&w->rng));
    struct timespec t = {0, 50 * 1000 * 1000};

    while (sp_seconds() < until && !asked_to_stop(w))
        nanosleep(&t, NULL);
}

/* After a failure that may be this machine's: others have the next job. */
static void step_back(worker *w)
{
    static const double LONGEST = 60;

    pause_for(w, fmin(ldexp(0.5, w->doubts), LONGEST));
}

static spry_status work(worker *w)
{
    int64_t taken = 0;
    spry_status s = SPRY_OK;

    while (s == SPRY_OK && !asked_to_stop(w) &&
           (w->opt.jobs == 0 || taken < w->opt.jobs)) {
        sp_lease l;

        be_patient(w);
        s = sp_queue_take(w->f->server, &l, &w->who, w->machine.fingerprint);
        if (s == SPRY_OK && l.id) {
            w->out->job = l.work;
            s = do_job(w, &l);
            w->out->job = "";
            taken++;
            if (s == SPRY_OK && w->doubts > 0)
                step_back(w);
        } else if (s == SPRY_OK && !l.open && w->opt.idle_exit)
            break;
        else if (s == SPRY_OK)
            pause_for(w, l.pause);
    }
    return asked_to_stop(w) ? SPRY_OK : s;
}

static spry_status know_machine(worker *w)
{
    spry_status s = SPRY_OK;

    if (w->opt.machine)
        w->machine = *w->opt.machine;
    else
        s = spry_machine_detect(&w->machine);
    if (s == SPRY_OK && !w->opt.machine)
        s = spry_machine_probe(&w->machine);
    return s;
}

spry_status spry_fleet_work(spry_fleet_worked *out, spry_fleet *f,
                            const spry_fleet_work_options *opt)
{
    SP_NEED(out, f);
    SP_ROOM(out);

    spry_fleet_worked whole = {.size = sizeof whole, .job = ""};
    char host[256] = "?";
    worker w = {.f = f,
                .opt = SPRY_FLEET_WORK_DEFAULTS,
                .out = &whole,
                .begun = sp_seconds()};
    spry_status s = SP_TAKE_OPTIONS(&w.opt, opt);

    if (s != SPRY_OK)
        return s;
    SP_REFUSE(w.opt.jobs < 0, "%d jobs are no number of jobs", w.opt.jobs);
    w.rng = sp_rng_seed((uint64_t)getpid() ^ (uint64_t)(1e9 * w.begun));
    s = know_machine(&w);
    if (s == SPRY_OK)
        s = sp_matrix_files_open(&w.files, w.opt.matrices);
    (void)gethostname(host, sizeof host - 1);
    if (s == SPRY_OK) {
        be_patient(&w);
        s = sp_queue_enroll(f->server, &w.who, w.opt.name ? w.opt.name : host,
                            w.machine.fingerprint);
    }
    if (s == SPRY_OK)
        s = work(&w);
    sp_postgres_patience(f->server, 20, NULL, NULL);
    sp_matrix_files_close(w.files);
    whole.seconds = sp_seconds() - w.begun;
    SP_GIVE(out, &whole);
    return s;
}
