/* open.c - matrix, machine and store, from the words of a command line. */
#include "cli.h"

#include <string.h>

spry_status open_matrix(spry_matrix **out, const char *path)
{
    if (strncmp(path, "gen:", 4) == 0)
        return say_status(spry_matrix_generate(out, path + 4, cli.seed));
    return say_status(spry_matrix_read(out, path));
}

spry_status open_store(spry_records **out)
{
    return say_status(spry_records_open(out, cli.store));
}

int machine_given(void)
{
    return cli.machine || cli.isa;
}

/* The limits of the command line; naming no instruction set limits none. */
static spry_status limit(spry_machine *m)
{
    spry_isa isa = m->isa;
    spry_status s = SPRY_OK;

    if (cli.isa)
        s = spry_isa_parse(&isa, cli.isa);
    if (s == SPRY_OK && (cli.isa || cli.threads))
        s = spry_machine_limit(m, cli.threads, isa);
    return s;
}

/* Numbers from the store, else from a probe that the store then keeps. A
 * store that cannot be used costs two seconds, not the answer. */
static spry_status fill_in(spry_machine *m)
{
    spry_records *db = NULL;
    spry_status s;
    int found = 0;

    if (spry_records_open(&db, cli.store) == SPRY_OK) {
        spry_machine known;

        if (spry_records_get_machine(db, &known, &found, m->fingerprint) ==
                SPRY_OK &&
            found && known.probed)
            *m = known;
    }
    s = m->probed ? SPRY_OK : spry_machine_probe(m);
    if (s == SPRY_OK && db && !found)
        spry_records_put_machine(db, m);
    spry_records_close(db);
    return s;
}

spry_status open_machine(spry_machine *out, int probed)
{
    spry_status s;

    if (cli.machine)
        s = spry_machine_read(out, cli.machine);
    else
        s = spry_machine_detect(out);
    if (s == SPRY_OK)
        s = limit(out);
    if (s == SPRY_OK && probed && !cli.machine)
        s = fill_in(out);
    return say_status(s);
}
