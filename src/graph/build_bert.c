/* build_bert.c - BERT-base, written out as frameworks write it: norms, gelu
 * and attention as chains of small operators. */
#include "graph/build.h"

#include <math.h>

enum { WIDTH = 768, INNER = 3072, HEADS = 12, EACH = 64, WORDS = 30522 };

static int linear(sp_builder *b, int x, int64_t in, int64_t out)
{
    int weight = sp_build_weights(b, &(sp_extent){2, {in, out}}, 2 * in, 1);
    int bias = sp_build_random(b, &(sp_extent){1, {out}}, -0.1, 0.1);

    return sp_build_binary(b, "Add", sp_build_binary(b, "MatMul", x, weight),
                           bias);
}

static int mean_of_last(sp_builder *b, int x)
{
    x = sp_build_unary(b, "ReduceMean", x);
    sp_build_ints(b, "axes", 1, (int64_t[]){-1});
    sp_build_int(b, "keepdims", 1);
    return x;
}

static int layer_norm(sp_builder *b, int x)
{
    sp_extent c = {1, {WIDTH}};
    int scale = sp_build_random(b, &c, 0.5, 1);
    int bias = sp_build_random(b, &c, -0.1, 0.1);
    int off = sp_build_binary(b, "Sub", x, mean_of_last(b, x));
    int spread = sp_build_binary(b, "Pow", off, sp_build_number(b, 2));

    spread = sp_build_binary(b, "Add", mean_of_last(b, spread),
                             sp_build_number(b, 1e-12));
    x = sp_build_binary(b, "Div", off, sp_build_unary(b, "Sqrt", spread));
    return sp_build_binary(b, "Add", sp_build_binary(b, "Mul", x, scale), bias);
}

static int gelu(sp_builder *b, int x)
{
    int y = sp_build_binary(b, "Div", x, sp_build_number(b, sqrt(2)));

    y = sp_build_binary(b, "Add", sp_build_unary(b, "Erf", y),
                        sp_build_number(b, 1));
    return sp_build_binary(b, "Mul", sp_build_binary(b, "Mul", x, y),
                           sp_build_number(b, 0.5));
}

/* [batch][tokens][768] as [batch][heads][tokens][64], or its transpose. */
static int heads(sp_builder *b, int x, int64_t tokens, int turned)
{
    static const int64_t straight[] = {0, 2, 1, 3}, swapped[] = {0, 2, 3, 1};

    x = sp_build_reshape(b, x,
                         &(sp_extent){4, {b->batch, tokens, HEADS, EACH}});
    return sp_build_transpose(b, x, 4, turned ? swapped : straight);
}

static int attention(sp_builder *b, int x, int64_t tokens)
{
    static const int64_t back[] = {0, 2, 1, 3};
    int q = heads(b, linear(b, x, WIDTH, WIDTH), tokens, 0);
    int k = heads(b, linear(b, x, WIDTH, WIDTH), tokens, 1);
    int v = heads(b, linear(b, x, WIDTH, WIDTH), tokens, 0);
    int y = sp_build_binary(b, "MatMul", q, k);

    y = sp_build_binary(b, "Div", y, sp_build_number(b, 8));
    y = sp_build_unary(b, "Softmax", y);
    sp_build_int(b, "axis", -1);
    y = sp_build_transpose(b, sp_build_binary(b, "MatMul", y, v), 4, back);
    y = sp_build_reshape(b, y, &(sp_extent){3, {b->batch, tokens, WIDTH}});
    return linear(b, y, WIDTH, WIDTH);
}

static int embedding(sp_builder *b, int64_t rows, int which)
{
    int table = sp_build_random(b, &(sp_extent){2, {rows, WIDTH}}, -0.1, 0.1);

    return sp_build_binary(b, "Gather", table, which);
}

static int embeddings(sp_builder *b, int64_t tokens)
{
    sp_extent ids = {2, {b->batch, tokens}};
    int word = sp_build_input(b, "input_ids", 1, &ids);
    int kind = sp_build_input(b, "token_type_ids", 1, &ids);
    int64_t place[512];
    int x, y;

    for (int64_t i = 0; i < tokens; i++)
        place[i] = i;
    x = embedding(b, WORDS, word);
    y = embedding(b, 2, kind);
    x = sp_build_binary(b, "Add", x, y);
    x = sp_build_binary(
        b, "Add", x, embedding(b, 512, sp_build_whole(b, (int)tokens, place)));
    return layer_norm(b, x);
}

/* The first token's vector, through a layer of its own. */
static int pooler(sp_builder *b, int x)
{
    int first =
        sp_build_binary(b, "Gather", x, sp_build_whole(b, 1, (int64_t[]){0}));

    sp_build_int(b, "axis", 1);
    x = sp_build_reshape(b, first, &(sp_extent){2, {b->batch, WIDTH}});
    return sp_build_unary(b, "Tanh", sp_build_dense(b, x, WIDTH, WIDTH));
}

void sp_build_bert(sp_builder *b, const sp_recipe *r)
{
    int64_t tokens = 128, layers = 12;
    int x;

    b->status = sp_recipe_count(&tokens, r, "tokens", 1, 512);
    if (b->status == SPRY_OK)
        b->status = sp_recipe_count(&layers, r, "layers", 1, 48);
    if (b->status != SPRY_OK)
        return;
    x = embeddings(b, tokens);
    for (int64_t i = 0; i < layers; i++) {
        int y = attention(b, x, tokens);

        x = layer_norm(b, sp_build_binary(b, "Add", y, x));
        y = linear(b, gelu(b, linear(b, x, WIDTH, INNER)), INNER, WIDTH);
        x = layer_norm(b, sp_build_binary(b, "Add", y, x));
    }
    sp_build_output(b, x);
    sp_build_output(b, pooler(b, x));
}
