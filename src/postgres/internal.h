/* internal.h - libpq from inside: its functions, looked up by name. */
#ifndef SP_POSTGRES_INTERNAL_H
#define SP_POSTGRES_INTERNAL_H

#include "postgres/postgres.h"

#ifdef SPRY_LIBPQ_HEADER
#include <libpq-fe.h>
#else /* as libpq has them since its beginnings */
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned Oid;
typedef enum { CONNECTION_OK } ConnStatusType;
typedef enum {
    PGRES_COMMAND_OK = 1,
    PGRES_TUPLES_OK = 2,
    PGRES_SINGLE_TUPLE = 9
} ExecStatusType;
typedef enum { PQTRANS_IDLE = 0, PQTRANS_INERROR = 3 } PGTransactionStatusType;
typedef void (*PQnoticeProcessor)(void *arg, const char *message);
#endif

/* What is called of it. */
#define SP_LIBPQ(X)                                                   \
    X(PGconn *, PQconnectdbParams,                                    \
      (const char *const *, const char *const *, int))                \
    X(void, PQfinish, (PGconn *))                                     \
    X(ConnStatusType, PQstatus, (const PGconn *))                     \
    X(PGTransactionStatusType, PQtransactionStatus, (const PGconn *)) \
    X(char *, PQerrorMessage, (const PGconn *))                       \
    X(int, PQsocket, (const PGconn *))                                \
    X(PQnoticeProcessor, PQsetNoticeProcessor,                        \
      (PGconn *, PQnoticeProcessor, void *))                          \
    X(PGresult *, PQexec, (PGconn *, const char *))                   \
    X(int, PQsendQueryParams,                                         \
      (PGconn *, const char *, int, const Oid *, const char *const *, \
       const int *, const int *, int))                                \
    X(int, PQsetSingleRowMode, (PGconn *))                            \
    X(PGresult *, PQgetResult, (PGconn *))                            \
    X(ExecStatusType, PQresultStatus, (const PGresult *))             \
    X(char *, PQresultErrorField, (const PGresult *, int))            \
    X(char *, PQcmdTuples, (PGresult *))                              \
    X(int, PQntuples, (const PGresult *))                             \
    X(int, PQnfields, (const PGresult *))                             \
    X(Oid, PQftype, (const PGresult *, int))                          \
    X(int, PQgetisnull, (const PGresult *, int, int))                 \
    X(int, PQgetlength, (const PGresult *, int, int))                 \
    X(char *, PQgetvalue, (const PGresult *, int, int))               \
    X(void, PQclear, (PGresult *))                                    \
    X(int, PQlibVersion, (void))

typedef struct {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define SP_LIBPQ_MEMBER(result, name, arguments) result(*name) arguments;
    SP_LIBPQ(SP_LIBPQ_MEMBER)
#undef SP_LIBPQ_MEMBER
} sp_libpq;

/* NULL, with a sentence, where there is none. */
const sp_libpq *sp_libpq_open(void);

enum { SP_URI = 2048 };

struct sp_postgres {
    const sp_libpq *pq;
    PGconn *connection;
    int inside; /* a transaction that was begun */
    double patience;
    double until; /* somebody waits; 0: nobody does */
    int given_up; /* and it was in vain */
    int (*stop)(void *payload);
    void *payload;
    char state[6];
    char uri[SP_URI], name[SP_URI];
};

/* Seconds in which a connection is tried again. */
double sp_postgres_patient(const sp_postgres *c);
/* Connect, or connect again: one try. */
spry_status sp_postgres_connect(sp_postgres *c);

#endif
