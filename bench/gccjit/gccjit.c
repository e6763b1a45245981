/* gccjit.c - the loop nest of a "csr tile=4" spmm kernel, by hand.
 *
 *     for u in [first, last)
 *         for j in 0, 32 ..
 *             s0 .. s3 = 0
 *             for k in [start[u], start[u + 1])
 *                 s_i += val[k] * B[col[k] * n + j + 8 i ..]
 *             C[u * n + j + 8 i ..] = s_i
 *
 * A second generator would have to say all kernels so; this one says how
 * long the library takes. */
#include "gccjit.h"

#include <libgccjit.h>
#include <stddef.h>

enum { LANES = 8, TILE = 4 };

typedef struct {
    gcc_jit_context *x;
    gcc_jit_function *f;
    gcc_jit_type *i64, *i32, *f32, *vec;
    gcc_jit_rvalue *arg[8]; /* in the order of names[] */
    gcc_jit_lvalue *u, *j, *k, *end, *s[TILE];
} maker;

enum { FIRST, LAST, N, START, COL, VAL, B, C };
static const char *const names[] = {"first", "last", "n", "start",
                                    "col",   "val",  "B", "C"};

static gcc_jit_rvalue *rv(gcc_jit_lvalue *v)
{
    return gcc_jit_lvalue_as_rvalue(v);
}

static gcc_jit_rvalue *op(maker *m, enum gcc_jit_binary_op o, gcc_jit_rvalue *a,
                          gcc_jit_rvalue *b)
{
    return gcc_jit_context_new_binary_op(m->x, NULL, o,
                                         gcc_jit_rvalue_get_type(a), a, b);
}

static gcc_jit_rvalue *number(maker *m, int v)
{
    return gcc_jit_context_new_rvalue_from_int(m->x, m->i64, v);
}

static gcc_jit_rvalue *at(maker *m, gcc_jit_rvalue *array, gcc_jit_rvalue *i)
{
    return rv(gcc_jit_context_new_array_access(m->x, NULL, array, i));
}

static gcc_jit_rvalue *wide(maker *m, gcc_jit_rvalue *narrow)
{
    return gcc_jit_context_new_cast(m->x, NULL, narrow, m->i64);
}

/* *(vec *)&array[row * n + j + 8 i] */
static gcc_jit_lvalue *vector_at(maker *m, gcc_jit_rvalue *array,
                                 gcc_jit_rvalue *row, int i)
{
    gcc_jit_rvalue *place =
        op(m, GCC_JIT_BINARY_OP_PLUS,
           op(m, GCC_JIT_BINARY_OP_PLUS,
              op(m, GCC_JIT_BINARY_OP_MULT, row, m->arg[N]), rv(m->j)),
           number(m, i * LANES));
    gcc_jit_rvalue *address = gcc_jit_lvalue_get_address(
        gcc_jit_context_new_array_access(m->x, NULL, array, place), NULL);

    return gcc_jit_rvalue_dereference(
        gcc_jit_context_new_cast(m->x, NULL, address,
                                 gcc_jit_type_get_pointer(m->vec)),
        NULL);
}

/* for (v = from; v < to; v += by): the body's block; *out is what follows. */
static gcc_jit_block *loop(maker *m, gcc_jit_block *before, gcc_jit_lvalue *v,
                           gcc_jit_rvalue *from, gcc_jit_rvalue *to,
                           gcc_jit_block **head, gcc_jit_block **after)
{
    gcc_jit_block *body = gcc_jit_function_new_block(m->f, NULL);

    *head = gcc_jit_function_new_block(m->f, NULL);
    *after = gcc_jit_function_new_block(m->f, NULL);
    gcc_jit_block_add_assignment(before, NULL, v, from);
    gcc_jit_block_end_with_jump(before, NULL, *head);
    gcc_jit_block_end_with_conditional(
        *head, NULL,
        gcc_jit_context_new_comparison(m->x, NULL, GCC_JIT_COMPARISON_LT, rv(v),
                                       to),
        body, *after);
    return body;
}

static void close_loop(maker *m, gcc_jit_block *body, gcc_jit_block *head,
                       gcc_jit_lvalue *v, int by)
{
    gcc_jit_block_add_assignment_op(body, NULL, v, GCC_JIT_BINARY_OP_PLUS,
                                    number(m, by));
    gcc_jit_block_end_with_jump(body, NULL, head);
}

/* s_i += val[k] * B's row col[k] */
static void accumulate(maker *m, gcc_jit_block *body)
{
    gcc_jit_rvalue *w[LANES];
    gcc_jit_rvalue *row = wide(m, at(m, m->arg[COL], rv(m->k)));
    gcc_jit_rvalue *all;

    for (int l = 0; l < LANES; l++)
        w[l] = at(m, m->arg[VAL], rv(m->k));
    all = gcc_jit_context_new_rvalue_from_vector(m->x, NULL, m->vec, LANES, w);
    for (int i = 0; i < TILE; i++)
        gcc_jit_block_add_assignment_op(
            body, NULL, m->s[i], GCC_JIT_BINARY_OP_PLUS,
            op(m, GCC_JIT_BINARY_OP_MULT, all,
               rv(vector_at(m, m->arg[B], row, i))));
}

static void write_body(maker *m, gcc_jit_block *entry)
{
    gcc_jit_block *u_head, *j_head, *k_head, *done, *row_done, *tile_done;
    gcc_jit_block *row, *tile, *entries;
    gcc_jit_rvalue *zero[LANES];

    for (int l = 0; l < LANES; l++)
        zero[l] = gcc_jit_context_zero(m->x, m->f32);
    row = loop(m, entry, m->u, m->arg[FIRST], m->arg[LAST], &u_head, &done);
    tile = loop(m, row, m->j, number(m, 0), m->arg[N], &j_head, &row_done);
    for (int i = 0; i < TILE; i++)
        gcc_jit_block_add_assignment(tile, NULL, m->s[i],
                                     gcc_jit_context_new_rvalue_from_vector(
                                         m->x, NULL, m->vec, LANES, zero));
    gcc_jit_block_add_assignment(
        tile, NULL, m->end,
        wide(m, at(m, m->arg[START],
                   op(m, GCC_JIT_BINARY_OP_PLUS, rv(m->u), number(m, 1)))));
    entries = loop(m, tile, m->k, wide(m, at(m, m->arg[START], rv(m->u))),
                   rv(m->end), &k_head, &tile_done);
    accumulate(m, entries);
    close_loop(m, entries, k_head, m->k, 1);
    for (int i = 0; i < TILE; i++)
        gcc_jit_block_add_assignment(
            tile_done, NULL, vector_at(m, m->arg[C], rv(m->u), i), rv(m->s[i]));
    close_loop(m, tile_done, j_head, m->j, TILE * LANES);
    close_loop(m, row_done, u_head, m->u, 1);
    gcc_jit_block_end_with_return(
        done, NULL,
        gcc_jit_context_zero(m->x,
                             gcc_jit_context_get_type(m->x, GCC_JIT_TYPE_INT)));
}

/* The arguments as locals, read from the struct by their offsets. */
static void read_arguments(maker *m, gcc_jit_block *entry,
                           gcc_jit_rvalue *given)
{
    static const size_t offset[] = {
        offsetof(sp_args, first), offsetof(sp_args, last),
        offsetof(sp_args, n),     offsetof(sp_args, start),
        offsetof(sp_args, col),   offsetof(sp_args, val),
        offsetof(sp_args, B),     offsetof(sp_args, C)};
    gcc_jit_type *index = gcc_jit_type_get_pointer(m->i32);
    gcc_jit_type *value = gcc_jit_type_get_pointer(m->f32);

    for (int i = 0; i < 8; i++) {
        gcc_jit_type *type = i <= N ? m->i64 : i <= COL ? index : value;
        gcc_jit_lvalue *local =
            gcc_jit_function_new_local(m->f, NULL, type, names[i]);
        gcc_jit_rvalue *from = gcc_jit_lvalue_get_address(
            gcc_jit_context_new_array_access(m->x, NULL, given,
                                             number(m, (int)offset[i])),
            NULL);

        gcc_jit_block_add_assignment(
            entry, NULL, local,
            rv(gcc_jit_rvalue_dereference(
                gcc_jit_context_new_cast(m->x, NULL, from,
                                         gcc_jit_type_get_pointer(type)),
                NULL)));
        m->arg[i] = rv(local);
    }
}

static void write_function(maker *m)
{
    gcc_jit_type *byte = gcc_jit_context_get_type(m->x, GCC_JIT_TYPE_CHAR);
    gcc_jit_param *a = gcc_jit_context_new_param(
        m->x, NULL, gcc_jit_type_get_pointer(byte), "a");
    gcc_jit_block *entry;
    static const char *const sums[] = {"s0", "s1", "s2", "s3"};

    m->f = gcc_jit_context_new_function(
        m->x, NULL, GCC_JIT_FUNCTION_EXPORTED,
        gcc_jit_context_get_type(m->x, GCC_JIT_TYPE_INT), "kernel", 1, &a, 0);
    entry = gcc_jit_function_new_block(m->f, NULL);
    m->u = gcc_jit_function_new_local(m->f, NULL, m->i64, "u");
    m->j = gcc_jit_function_new_local(m->f, NULL, m->i64, "j");
    m->k = gcc_jit_function_new_local(m->f, NULL, m->i64, "k");
    m->end = gcc_jit_function_new_local(m->f, NULL, m->i64, "end");
    for (int i = 0; i < TILE; i++)
        m->s[i] = gcc_jit_function_new_local(m->f, NULL, m->vec, sums[i]);
    read_arguments(m, entry, gcc_jit_param_as_rvalue(a));
    write_body(m, entry);
}

sp_kernel *bench_gccjit_make(void **code)
{
    maker m = {.x = gcc_jit_context_acquire()};
    gcc_jit_result *made;
    sp_kernel *kernel = NULL;

    m.i64 = gcc_jit_context_get_int_type(m.x, 8, 1);
    m.i32 = gcc_jit_context_get_int_type(m.x, 4, 1);
    m.f32 = gcc_jit_context_get_type(m.x, GCC_JIT_TYPE_FLOAT);
    m.vec = gcc_jit_type_get_vector(m.f32, LANES);
    gcc_jit_context_set_int_option(m.x, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL,
                                   2);
    gcc_jit_context_add_command_line_option(m.x, "-mavx2");
    gcc_jit_context_add_command_line_option(m.x, "-mfma");
    write_function(&m);
    made = gcc_jit_context_compile(m.x);
    if (made)
        *(void **)&kernel = gcc_jit_result_get_code(made, "kernel");
    gcc_jit_context_release(m.x);
    *code = made;
    return kernel;
}

void bench_gccjit_free(void *code)
{
    if (code)
        gcc_jit_result_release(code);
}

int bench_gccjit_built(void)
{
    return 1;
}
