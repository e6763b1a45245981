/* schema.c - the queue on the server: tables, functions, roles.
 *
 * Who works calls functions and reads no table. Every function that may be
 * called has a fixed search_path, so that nobody can put another table in
 * front of ours. Times are the server's: workers' clocks do not matter.
 *
 * Rows of the queue are narrow and pages half empty, so that signs of life
 * are updates in place; `until` has no index for the same reason. Jobs that
 * are ready and jobs that are leased have an index each, so that taking one
 * looks at no other. What may be lost with the server without harm (a sign of
 * life, a question that was answered with nothing) does not wait for the
 * disk. */
#include "fleet/internal.h"

#define TEXT_OF(x) #x
#define NUMBER(x)  TEXT_OF(x)
#define DEFINER                                                         \
    " LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, " \
    "pg_temp AS $body$\n"

const char *const sp_fleet_schema[] = {
    "CREATE SEQUENCE IF NOT EXISTS spry.token;\n"
    "CREATE TABLE IF NOT EXISTS spry.setting("
    " one integer PRIMARY KEY CHECK (one = 1), lease double precision NOT NULL,"
    " tries integer NOT NULL, swept timestamptz NOT NULL DEFAULT 'epoch',"
    " idle integer NOT NULL DEFAULT 0) WITH (fillfactor = 10);\n"
    "ALTER TABLE spry.setting ADD COLUMN IF NOT EXISTS idle integer NOT NULL"
    " DEFAULT 0, DROP COLUMN IF EXISTS busy,"
    " ADD COLUMN IF NOT EXISTS version integer NOT NULL DEFAULT 1;\n"
    "CREATE TABLE IF NOT EXISTS spry.worker("
    " id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,"
    " machine text NOT NULL, version text NOT NULL,"
    " begun timestamptz NOT NULL DEFAULT clock_timestamp(),"
    " seen timestamptz NOT NULL DEFAULT clock_timestamp(),"
    " done bigint NOT NULL DEFAULT 0, failed bigint NOT NULL DEFAULT 0)"
    " WITH (fillfactor = 50);\n"
    /* What a worker proves itself by; only its hash is here. */
    "ALTER TABLE spry.worker ADD COLUMN IF NOT EXISTS key bytea;\n"
    "CREATE TABLE IF NOT EXISTS spry.job("
    " id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " work text COLLATE \"C\" NOT NULL, machine text COLLATE \"C\" NOT NULL,"
    " submitter name NOT NULL DEFAULT session_user,"
    " at timestamptz NOT NULL DEFAULT clock_timestamp(),"
    " UNIQUE (work, machine));\n",

    "CREATE TABLE IF NOT EXISTS spry.queue("
    " id bigint PRIMARY KEY REFERENCES spry.job,"
    " machine text COLLATE \"C\" NOT NULL, priority smallint NOT NULL,"
    " state smallint NOT NULL DEFAULT 0," /* 0 ready, 1 leased, 2 over */
    " tries smallint NOT NULL DEFAULT 0, token bigint NOT NULL DEFAULT 0,"
    " worker bigint NOT NULL DEFAULT 0,"
    " until timestamptz NOT NULL DEFAULT 'epoch')"
    " WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0,"
    "  autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);\n"
    "CREATE INDEX IF NOT EXISTS queue_ready ON spry.queue(priority DESC, id)"
    " WHERE state = 0;\n"
    "CREATE INDEX IF NOT EXISTS queue_leased ON spry.queue(id)"
    " WHERE state = 1;\n"
    /* Without a reference to the job, which would be locked for every end;
     * rows are made for rows of the queue, which has one. */
    "CREATE TABLE IF NOT EXISTS spry.outcome("
    " job bigint PRIMARY KEY, token bigint NOT NULL,"
    " worker bigint NOT NULL, done boolean NOT NULL, rows bigint NOT NULL,"
    " seconds double precision NOT NULL,"
    " at timestamptz NOT NULL DEFAULT clock_timestamp(),"
    " reason text NOT NULL DEFAULT '');\n"
    "ALTER TABLE spry.outcome DROP CONSTRAINT IF EXISTS outcome_job_fkey;\n"
    "CREATE INDEX IF NOT EXISTS outcome_at ON spry.outcome(at);\n"
    "CREATE TABLE IF NOT EXISTS spry.late("
    " job bigint NOT NULL, token bigint NOT NULL, worker bigint NOT NULL,"
    " at timestamptz NOT NULL DEFAULT clock_timestamp());\n"
    "CREATE TABLE IF NOT EXISTS spry.matrix("
    " hash text COLLATE \"C\" PRIMARY KEY, name text NOT NULL,"
    " ending text NOT NULL, bytes bytea NOT NULL);\n"
    "ALTER TABLE spry.matrix ALTER bytes SET STORAGE EXTERNAL;\n"
    "CREATE TABLE IF NOT EXISTS spry.model("
    " hash text COLLATE \"C\" PRIMARY KEY, op text NOT NULL,"
    " kind text NOT NULL, date text NOT NULL, machines text NOT NULL,"
    " submitter name NOT NULL DEFAULT session_user,"
    " at timestamptz NOT NULL DEFAULT clock_timestamp(),"
    " bytes bytea NOT NULL);\n",

    /* A newer queue is left alone, and of an older one go the functions whose
     * arguments were others. */
    "DO $body$\nDECLARE v integer;\nBEGIN\n"
    "SELECT version INTO v FROM spry.setting;\n"
    "IF v > " NUMBER(
        SP_QUEUE_VERSION) " THEN\n"
                          " RAISE EXCEPTION 'made by a newer spry (queue %, this one knows " NUMBER(
                              SP_QUEUE_VERSION) "); left as it is', v;\nEND IF;\n"
                                                "IF v < " NUMBER(
                                                    SP_QUEUE_VERSION) " THEN\n"
                                                                      " DROP FUNCTION IF EXISTS spry.enroll, spry.take, spry.beat, spry.finish,"
                                                                      "  spry.give_back, spry.fetch;\nEND IF;\nEND $body$;\n"
                                                                      "CREATE OR REPLACE FUNCTION spry.schema(OUT store bigint,"
                                                                      " OUT queue integer)" DEFINER
                                                                      "BEGIN\n"
                                                                      "SELECT a.version, b.version INTO store, queue"
                                                                      " FROM spry.store a, spry.setting b;\nEND $body$;\n",

    /* At most so often, whoever comes by: leases that ran out are given back
     * to the front of the queue, or end the job. */
    "CREATE OR REPLACE FUNCTION spry.sweep() RETURNS void" DEFINER
    "DECLARE most integer;\n"
    "BEGIN\n"
    "SELECT tries INTO most FROM spry.setting"
    " WHERE swept < clock_timestamp() - interval '0.4 s'"
    " FOR UPDATE SKIP LOCKED;\n"
    "IF NOT FOUND THEN RETURN; END IF;\n"
    "UPDATE spry.setting SET swept = clock_timestamp(), idle ="
    " (SELECT count(*) FROM spry.worker w"
    "  WHERE seen > clock_timestamp() - interval '60 s' AND NOT EXISTS"
    "   (SELECT FROM spry.queue q WHERE q.state = 1 AND q.worker = w.id));\n"
    "WITH gone AS MATERIALIZED (SELECT id FROM spry.queue WHERE state = 1"
    "  AND until < clock_timestamp() FOR UPDATE SKIP LOCKED),\n"
    "swept AS (UPDATE spry.queue q SET"
    "  state = CASE WHEN q.tries >= most THEN 2 ELSE 0 END,"
    "  priority = least(q.priority + 10, 2000)"
    "  FROM gone WHERE q.id = gone.id"
    "  RETURNING q.id, q.state, q.tries, q.token, q.worker)\n"
    "INSERT INTO spry.outcome(job, token, worker, done, rows, seconds, reason)"
    " SELECT id, token, worker, false, 0, 0,"
    "  'given out ' || tries || ' times, and no worker came back'"
    "  FROM swept WHERE state = 2;\n"
    "END $body$;\n",

    "CREATE OR REPLACE FUNCTION spry.enroll(name text, machine text,"
    " version text, OUT worker bigint, OUT key text)" DEFINER "BEGIN\n"
    "IF machine !~ '^[0-9a-f]{16}$' THEN"
    " RAISE EXCEPTION 'a machine is named by its fingerprint'; END IF;\n"
    "key := gen_random_uuid();\n"
    "INSERT INTO spry.worker AS w(name, machine, version, key) VALUES"
    " (left(enroll.name, 100), enroll.machine, left(enroll.version, 40),"
    "  sha256(convert_to(enroll.key, 'UTF8'))) RETURNING w.id INTO worker;\n"
    "END $body$;\n"

    /* Numbers can be guessed, keys cannot. Whoever locks a row of a worker
     * and one of the queue locks them in this order. */
    "CREATE OR REPLACE FUNCTION spry.admit(who bigint, key text)"
    " RETURNS void" DEFINER "DECLARE last timestamptz;\n"
    "BEGIN\n"
    "SELECT w.seen INTO last FROM spry.worker w WHERE w.id = who"
    " AND w.key = sha256(convert_to(admit.key, 'UTF8'));\n"
    "IF NOT FOUND THEN"
    " RAISE EXCEPTION 'no worker has this number and this key'; END IF;\n"
    "IF last < clock_timestamp() - interval '5 s' THEN"
    " UPDATE spry.worker SET seen = clock_timestamp() WHERE id = who;"
    " END IF;\nEND $body$;\n",

    /* Who gave a job back and may be to blame does not get it at once. */
    "CREATE OR REPLACE FUNCTION spry.take(who bigint, key text,"
    " fingerprint text,"
    " OUT job bigint, OUT fence bigint, OUT lease double precision,"
    " OUT pause double precision, OUT open boolean, OUT work text)" DEFINER
    "DECLARE s spry.setting; ended boolean;\n"
    "BEGIN\n"
    "PERFORM spry.admit(who, key);\n"
    "PERFORM spry.sweep();\n"
    "SELECT * INTO s FROM spry.setting;\n"
    "lease := s.lease; pause := 0; open := true;\n"
    "UPDATE spry.queue q SET state = 1, tries = q.tries + 1, worker = who,"
    " token = nextval('spry.token'),"
    " until = clock_timestamp() + make_interval(secs => s.lease)"
    " WHERE q.id = (SELECT x.id FROM spry.queue x WHERE x.state = 0"
    "  AND x.machine IN ('', fingerprint)"
    "  AND (x.worker <> who OR x.until < clock_timestamp())"
    "  ORDER BY x.priority DESC, x.id LIMIT 1 FOR UPDATE SKIP LOCKED)"
    " RETURNING q.id, q.token INTO job, fence;\n"
    "IF job IS NULL THEN\n"
    " PERFORM set_config('synchronous_commit', 'off', true);\n"
    " SELECT count(*) > 0, coalesce(min(q.until) < clock_timestamp(), false)"
    "  INTO open, ended FROM spry.queue q WHERE q.state = 1;\n"
    /* A lease that ended is somebody's as soon as leases are swept. */
    " pause := CASE WHEN ended THEN 0.3"
    "  ELSE least(greatest(0.3, s.idle / 200.0), 30) END;\n"
    " open := open OR EXISTS (SELECT FROM spry.queue q WHERE q.state = 0"
    "   AND q.machine IN ('', fingerprint));\n"
    "ELSE SELECT j.work INTO work FROM spry.job j WHERE j.id = job;\n"
    "END IF;\nEND $body$;\n",

    /* A lease that ran out and that nobody took since goes on. */
    "CREATE OR REPLACE FUNCTION spry.beat(who bigint, key text, job bigint,"
    " fence bigint) RETURNS boolean" DEFINER "DECLARE found_it boolean;\n"
    "BEGIN\n"
    "PERFORM set_config('synchronous_commit', 'off', true);\n"
    "PERFORM spry.admit(who, key);\n"
    "UPDATE spry.queue q SET state = 1, until = clock_timestamp()"
    " + make_interval(secs => (SELECT lease FROM spry.setting))"
    " WHERE q.id = job AND q.token = fence AND q.worker = who"
    " AND q.state < 2;\n"
    "found_it := FOUND;\n"
    "PERFORM spry.sweep();\n"
    "RETURN found_it;\nEND $body$;\n"

    /* The token is looked at under a lock that stands until the records are
     * in. One whose answer was lost on the way asks again and is told yes. A
     * lease that ran out and that nobody took since is as good as any. */
    "CREATE OR REPLACE FUNCTION spry.finish(who bigint, key text, job bigint,"
    " fence bigint, given jsonb, took double precision,"
    " OUT ours boolean, OUT added bigint)" DEFINER "BEGIN\n"
    "added := 0;\n"
    "PERFORM spry.admit(who, key);\n"
    "PERFORM FROM spry.worker w WHERE w.id = who FOR NO KEY UPDATE;\n"
    "PERFORM FROM spry.queue q WHERE q.id = job AND q.token = fence"
    " AND q.worker = who AND q.state < 2 FOR UPDATE;\n"
    "IF NOT FOUND THEN\n"
    " SELECT true, o.rows INTO ours, added FROM spry.outcome o"
    "  WHERE o.job = finish.job AND o.token = fence AND o.worker = who"
    "  AND o.done;\n"
    " IF ours THEN RETURN; END IF;\n"
    " ours := false; added := 0;\n"
    " INSERT INTO spry.late(job, token, worker)"
    "  VALUES (finish.job, fence, who);\n"
    " RETURN;\nEND IF;\n"
    "ours := true;\n"
    "IF given IS NOT NULL THEN added := spry.add_rows(given); END IF;\n"
    "INSERT INTO spry.outcome(job, token, worker, done, rows, seconds)"
    " VALUES (finish.job, fence, who, true, added, took);\n"
    "UPDATE spry.queue q SET state = 2 WHERE q.id = job;\n"
    "UPDATE spry.worker SET done = done + 1, seen = clock_timestamp()"
    " WHERE id = who;\n"
    "END $body$;\n",

    /* The token goes with the lease. for_good NULL: nothing speaks against the
     * job, it was no try. */
    "CREATE OR REPLACE FUNCTION spry.give_back(who bigint, key text,"
    " job bigint, fence bigint, reason text, for_good boolean)"
    " RETURNS boolean" DEFINER "DECLARE n smallint;\n"
    "BEGIN\n"
    "PERFORM spry.admit(who, key);\n"
    "PERFORM FROM spry.worker w WHERE w.id = who FOR NO KEY UPDATE;\n"
    "SELECT q.tries INTO n FROM spry.queue q WHERE q.id = job"
    " AND q.token = fence AND q.worker = who AND q.state = 1 FOR UPDATE;\n"
    "IF NOT FOUND THEN RETURN false; END IF;\n"
    "IF for_good IS NULL THEN\n"
    " UPDATE spry.queue q SET state = 0, token = 0, until = 'epoch',"
    "  tries = greatest(n - 1, 0) WHERE q.id = job;\n"
    "ELSIF for_good OR n >= (SELECT tries FROM spry.setting) THEN\n"
    " UPDATE spry.queue q SET state = 2 WHERE q.id = job;\n"
    " INSERT INTO spry.outcome(job, token, worker, done, rows, seconds, reason)"
    "  VALUES (give_back.job, fence, who, false, 0, 0,"
    "  left(give_back.reason, 400));\n"
    " UPDATE spry.worker SET failed = failed + 1, seen = clock_timestamp()"
    "  WHERE id = who;\n"
    "ELSE UPDATE spry.queue q SET state = 0, token = 0,"
    " until = clock_timestamp() + interval '10 s' WHERE q.id = job;\n"
    "END IF;\nRETURN true;\nEND $body$;\n"

    /* A piece of a matrix. */
    "CREATE OR REPLACE FUNCTION spry.fetch(content text, start bigint,"
    " OUT ending text, OUT size bigint, OUT bytes bytea)" DEFINER "BEGIN\n"
    "SELECT m.ending, octet_length(m.bytes),"
    " substr(m.bytes, start::integer + 1, 1048576) INTO ending, size, bytes"
    " FROM spry.matrix m WHERE m.hash = content;\nEND $body$;\n"

    "CREATE OR REPLACE FUNCTION spry.upload(given jsonb) RETURNS bigint" DEFINER
    "BEGIN RETURN spry.add_rows(given); END $body$;\n"

    "CREATE OR REPLACE FUNCTION spry.submit(work text, priority integer,"
    " machine text, OUT job bigint, OUT added boolean)" DEFINER "BEGIN\n"
    "IF length(work) > 511 OR work !~ '^[ -~]+$' OR length(machine) > 16"
    " OR priority NOT BETWEEN -1000 AND 1000 THEN"
    " RAISE EXCEPTION 'that is no job'; END IF;\n"
    "INSERT INTO spry.job AS j(work, machine) VALUES (submit.work,"
    " submit.machine) ON CONFLICT DO NOTHING RETURNING j.id INTO job;\n"
    "added := job IS NOT NULL;\n"
    "IF added THEN\n"
    " INSERT INTO spry.queue(id, machine, priority) VALUES (job,"
    "  submit.machine, submit.priority);\n"
    " RETURN;\nEND IF;\n"
    "SELECT j.id INTO job FROM spry.job j WHERE j.work = submit.work"
    " AND j.machine = submit.machine;\n"
    "DELETE FROM spry.outcome o WHERE o.job = submit.job AND NOT o.done;\n"
    "added := FOUND;\n"
    "IF added THEN UPDATE spry.queue q SET state = 0, tries = 0,"
    " until = 'epoch' WHERE q.id = submit.job; END IF;\n"
    "END $body$;\n",

    /* Roles belong to the whole server: they are made once, and grants are
     * given where they are. */
    "DO $body$\nDECLARE r text;\nBEGIN\n"
    "FOREACH r IN ARRAY ARRAY['spry_reader', 'spry_submitter', 'spry_worker']"
    " LOOP\n"
    "IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN"
    " EXECUTE format('CREATE ROLE %I NOLOGIN', r); END IF;\nEND LOOP;\n"
    "EXCEPTION WHEN insufficient_privilege OR duplicate_object THEN NULL;\n"
    "END $body$;\n"
    "REVOKE ALL ON SCHEMA spry FROM PUBLIC;\n"
    "REVOKE ALL ON ALL TABLES IN SCHEMA spry FROM PUBLIC;\n"
    "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA spry FROM PUBLIC;\n"
    "DO $body$\nBEGIN\n"
    "IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'spry_reader') THEN\n"
    " GRANT USAGE ON SCHEMA spry TO spry_reader;\n"
    " GRANT EXECUTE ON FUNCTION spry.schema TO spry_reader;\n"
    " GRANT SELECT ON ALL TABLES IN SCHEMA spry TO spry_reader;\nEND IF;\n"
    "IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'spry_submitter') THEN\n"
    " GRANT USAGE ON SCHEMA spry TO spry_submitter;\n"
    " GRANT SELECT ON ALL TABLES IN SCHEMA spry TO spry_submitter;\n"
    " GRANT INSERT ON spry.record, spry.answer, spry.machine, spry.problem,"
    "  spry.probe, spry.curve, spry.claim, spry.matrix, spry.model"
    "  TO spry_submitter;\n"
    " GRANT UPDATE ON spry.machine, spry.claim TO spry_submitter;\n"
    " GRANT EXECUTE ON FUNCTION spry.schema, spry.submit, spry.upload,"
    "  spry.add_rows TO spry_submitter;\nEND IF;\n"
    "IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'spry_worker') THEN\n"
    " GRANT USAGE ON SCHEMA spry TO spry_worker;\n"
    " GRANT EXECUTE ON FUNCTION spry.schema, spry.enroll, spry.take, spry.beat,"
    "  spry.finish, spry.give_back, spry.fetch, spry.upload TO spry_worker;\nEND IF;\n"
    "END $body$;\n",
    NULL};
