/* connect.c - a URI to a connection, and the same again when it is lost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "postgres/internal.h"

/* libpq would print them; what matters comes back as a failure. */
static void ignore_notice(void *unused, const char *message)
{
    (void)unused;
    (void)message;
}

/* libpq takes whole seconds, two at least. */
static void set_timeout(char out[16], double seconds)
{
    snprintf(out, 16, "%.0f", fmin(fmax(ceil(seconds), 2), 10));
}

/* libpq's sentence on one line, without the end of it. It may quote what it
 * could not read of a URI's parameters: then it is not passed on. */
static spry_status say_refused(sp_postgres *c)
{
    char why[512];
    const char *text = c->connection ? c->pq->PQerrorMessage(c->connection)
                                     : "not enough memory";
    size_t n;

    snprintf(why, sizeof why, "%s", text);
    n = strlen(why);
    while (n > 0 && why[n - 1] == '\n')
        why[--n] = 0;
    for (char *p = why; *p; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' ';
    if (strstr(why, "URI"))
        snprintf(why, sizeof why, "it is no URI that libpq understands");
    return sp_fail(SPRY_STORE, "%s: %s", c->name, why);
}

double sp_postgres_patient(const sp_postgres *c)
{
    static const double share = 0.25;

    return c->until > 0
               ? fmin(c->patience, fmax(share * (c->until - sp_seconds()), 0))
               : c->patience;
}

spry_status sp_postgres_connect(sp_postgres *c)
{
    /* What stands before dbname holds where the URI says nothing else. */
    const char *const key[] = {"connect_timeout",
                               "tcp_user_timeout",
                               "keepalives_idle",
                               "fallback_application_name",
                               "dbname",
                               "client_encoding",
                               NULL};
    const char *timeout = getenv("PGCONNECT_TIMEOUT");
    char most[16];
    const char *const value[] = {
        timeout ? timeout : most, "30000", "20", "spry", c->uri, "UTF8", NULL};

    set_timeout(most, c->until > 0 ? sp_postgres_patient(c) : 10);
    if (c->connection)
        c->pq->PQfinish(c->connection);
    c->inside = 0;
    c->connection = c->pq->PQconnectdbParams(key, value, 1);
    if (!c->connection || c->pq->PQstatus(c->connection) != CONNECTION_OK)
        return say_refused(c);
    c->pq->PQsetNoticeProcessor(c->connection, ignore_notice, NULL);
    return SPRY_OK;
}

spry_status sp_postgres_open(sp_postgres **out, const char *uri)
{
    const sp_libpq *pq = sp_libpq_open();
    const char *fault;
    sp_postgres *c;
    spry_status s;

    *out = NULL;
    if (!pq)
        return SPRY_SYSTEM;
    if (strlen(uri) >= SP_URI)
        return sp_fail(SPRY_USAGE, "the URI of the store is too long");
    c = sp_alloc(1, sizeof *c);
    if (!c)
        return sp_fail_memory(sizeof *c);
    c->pq = pq;
    c->patience = 20;
    snprintf(c->uri, sizeof c->uri, "%s", uri);
    sp_postgres_redact(c->name, sizeof c->name, uri);
    fault = sp_postgres_uri_fault(uri);
    s = fault ? sp_fail(SPRY_STORE, "%s: %s", c->name, fault)
              : sp_postgres_connect(c);
    if (s == SPRY_OK)
        *out = c;
    else
        sp_postgres_close(c);
    return s;
}

void sp_postgres_close(sp_postgres *c)
{
    if (c && c->connection)
        c->pq->PQfinish(c->connection);
    if (c)
        memset(c->uri, 0, sizeof c->uri);
    sp_free(c);
}

void sp_postgres_abandon(sp_postgres *c)
{
    if (c && c->connection && c->pq->PQsocket(c->connection) >= 0)
        close(c->pq->PQsocket(c->connection));
    if (c)
        c->connection = NULL;
}

const char *sp_postgres_name(const sp_postgres *c)
{
    return c->name;
}

void sp_postgres_patience(sp_postgres *c, double seconds,
                          int (*stop)(void *payload), void *payload)
{
    c->patience = seconds;
    c->stop = stop;
    c->payload = payload;
}

void sp_postgres_until(sp_postgres *c, double until)
{
    c->until = until;
    c->given_up = 0;
}

int sp_postgres_lost(const sp_postgres *c)
{
    return !c->connection || c->pq->PQstatus(c->connection) != CONNECTION_OK;
}
