/* team.h - threads that wait for shares of work.
 *
 * Between two jobs they look out for the next one for a moment, then they
 * sleep: a core is never kept busy by waiting. */
#ifndef SP_TEAM_H
#define SP_TEAM_H

#include "base/base.h"

typedef struct sp_team sp_team;
typedef void sp_job(void *arg, int share);

/* So many threads, the caller's included. */
spry_status sp_team_open(sp_team **out, int threads);
void sp_team_close(sp_team *t);
/* Shares 0 .. count - 1, all done on return. */
void sp_team_run(sp_team *t, sp_job *job, void *arg, int count);

/* A fork copies one thread: a team has to be opened again where this is another
 * number than when it was, and what is left of it forgotten. */
unsigned sp_team_forks(void);
void sp_team_forget(sp_team *t);

#endif
