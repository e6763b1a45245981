/* tensor.c - tensors made and looked at. */
#include "cli.h"

spry_status generate_tensor(const char *spec, const char *file)
{
    spry_tensor *t = NULL;
    char key[33];
    spry_status s = say_status(spry_tensor_generate(&t, spec, cli.seed));

    if (s == SPRY_OK)
        s = say_status(spry_tensor_write(t, file));
    if (s == SPRY_OK && cli.json) {
        json j = json_begin("spry.generate/1");

        spry_matrix_key(key, t->unfolded);
        json_text(&j, "spec", spec);
        json_integer(&j, "seed", (int64_t)cli.seed);
        json_text(&j, "file", file);
        json_open(&j, "dims", '[');
        for (int mode = 0; mode < 3; mode++)
            json_integer(&j, NULL, t->dim[mode]);
        json_close(&j, ']');
        json_integer(&j, "nnz", t->unfolded->nnz);
        json_text(&j, "key", key);
        json_end(&j);
    } else if (s == SPRY_OK)
        printf("%s: %s x %s x %s, %s entries\n", file,
               say_count((double)t->dim[0]), say_count((double)t->dim[1]),
               say_count((double)t->dim[2]),
               say_count((double)t->unfolded->nnz));
    spry_tensor_free(t);
    return s;
}

/* ---- inspect ---- */

/* One mode: how its slices are filled, and the fibers that run along the
 * last of the other two. */
typedef struct {
    int64_t size, empty, most, fibers;
} about;

static int64_t column(const spry_matrix *m, int64_t e)
{
    return m->index == SPRY_I32 ? ((const int32_t *)m->col)[e]
                                : ((const int64_t *)m->col)[e];
}

static about look_at(const spry_tensor *t)
{
    const spry_matrix *m = t->unfolded;
    about a = {.size = t->dim[0]};

    for (int64_t i = 0; i < m->rows; i++) {
        int64_t first = m->start[i], n = m->start[i + 1] - first;

        a.empty += n == 0;
        a.most = n > a.most ? n : a.most;
        for (int64_t e = first; e < first + n; e++)
            a.fibers += e == first || column(m, e) / t->dim[2] !=
                                          column(m, e - 1) / t->dim[2];
    }
    return a;
}

static void print_mode(json *j, int mode, const about *a, int64_t nnz)
{
    int64_t used = a->size - a->empty;
    double mean = used ? (double)nnz / (double)used : 0;
    double length = a->fibers ? (double)nnz / (double)a->fibers : 0;

    if (!j) {
        printf("mode %d     %s long, %s empty; entries a slice %.1f, most %s; "
               "%s fibers of %.1f\n",
               mode, say_count((double)a->size), say_count((double)a->empty),
               mean, say_count((double)a->most), say_count((double)a->fibers),
               length);
        return;
    }
    json_open(j, NULL, '{');
    json_integer(j, "size", a->size);
    json_integer(j, "empty", a->empty);
    json_number(j, "slice_mean", mean);
    json_integer(j, "slice_max", a->most);
    json_integer(j, "fibers", a->fibers);
    json_number(j, "fiber_mean", length);
    json_close(j, '}');
}

static spry_status print_modes(json *j, const spry_tensor *t)
{
    spry_status s = SPRY_OK;

    for (int mode = 0; s == SPRY_OK && mode < 3; mode++) {
        spry_tensor *turned;

        s = spry_tensor_turn(&turned, t, mode);
        if (s == SPRY_OK) {
            about a = look_at(turned);

            print_mode(j, mode, &a, t->unfolded->nnz);
        }
        spry_tensor_free(turned);
    }
    return say_status(s);
}

spry_status inspect_tensor(const char *path)
{
    spry_tensor *t;
    char key[33];
    spry_status s = open_tensor(&t, path);

    if (s != SPRY_OK)
        return s;
    spry_matrix_key(key, t->unfolded);
    if (cli.json) {
        json j = json_begin("spry.inspect_tensor/1");

        json_text(&j, "tensor", path);
        json_text(&j, "key", key);
        json_integer(&j, "nnz", t->unfolded->nnz);
        json_text(&j, "type", spry_type_name(t->unfolded->type));
        json_open(&j, "modes", '[');
        s = print_modes(&j, t);
        json_close(&j, ']');
        json_end(&j);
    } else {
        printf("tensor     %s x %s x %s, %s entries, %s\n",
               say_count((double)t->dim[0]), say_count((double)t->dim[1]),
               say_count((double)t->dim[2]),
               say_count((double)t->unfolded->nnz),
               spry_type_name(t->unfolded->type));
        s = print_modes(NULL, t);
    }
    spry_tensor_free(t);
    return s;
}
