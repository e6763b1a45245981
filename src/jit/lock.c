/* lock.c - the one lock of this room, and what becomes of it in a fork.
 *
 * A fork copies the locks as they are but only one of the threads: what
 * another one held would stay locked in the child for ever, the loader's own
 * lock included. So a fork waits until nobody is inside. */
#include "jit/internal.h"

#include <pthread.h>

static pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t guarded = PTHREAD_ONCE_INIT;

static void enter(void)
{
    pthread_mutex_lock(&room);
}

static void leave(void)
{
    pthread_mutex_unlock(&room);
}

/* Without memory for the handlers everything works but such a fork. */
static void guard_forks(void)
{
    (void)pthread_atfork(enter, leave, leave);
}

void sp_jit_lock(void)
{
    pthread_once(&guarded, guard_forks);
    enter();
}

void sp_jit_unlock(void)
{
    leave();
}
