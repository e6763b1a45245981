/* write_challenge.c - a chained network as a Graph Challenge folder, byte for
 * byte as the official files are: "input<tab>output<tab>6.250000e-02", counted
 * from 1, by output and then by input. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "network/read.h"

enum { NUMBER = 32 };

/* %.6e as the challenge has it, or as many digits as the weight needs; a
 * point in every locale. */
static int print_weight(char out[NUMBER], float w)
{
    int n = 0;

    for (int digits = 6; digits <= 8; digits++) {
        const char *at = out;
        double back;

        n = snprintf(out, NUMBER, "%.*e", digits, (double)w);
        for (char *p = out; *p; p++)
            if (*p == ',')
                *p = '.';
        if (sp_scan_real(&at, out + n, &back) && (float)back == w)
            break;
    }
    return n;
}

/* Whole numbers are most of the file. */
static int print_count(char *out, int64_t x)
{
    char digit[24];
    int n = 0;

    do
        digit[n++] = (char)('0' + x % 10);
    while (x /= 10);
    for (int i = 0; i < n; i++)
        out[i] = digit[n - 1 - i];
    return n;
}

void sp_challenge_text(sp_buf *out, const spry_layer *l)
{
    char line[96], weight[NUMBER];
    int len = 0;
    float last = 0; /* no edge's weight need be printed twice in a row */

    for (int64_t j = 0; j < l->outputs; j++)
        for (int64_t k = l->start[j]; k < l->start[j + 1]; k++) {
            int n = print_count(line, l->source[k] + (int64_t)1);

            line[n++] = '\t';
            n += print_count(line + n, j + 1);
            line[n++] = '\t';
            if (!len || l->weight[k] != last)
                len = print_weight(weight, last = l->weight[k]);
            memcpy(line + n, weight, (size_t)len);
            n += len;
            line[n++] = '\n';
            sp_buf_bytes(out, line, (size_t)n);
        }
}

/* Does a reader of the folder, which holds weights alone, take biases and
 * activations for what they are? */
static int is_of_the_challenge(const spry_layer *l)
{
    float bias = spry_challenge_bias(l->inputs);

    for (int64_t i = 0; i < l->outputs; i++)
        if (l->bias[i] != bias)
            return 0;
    return l->bias_on_nonzero && l->activation.curve == SPRY_CLAMP &&
           l->activation.limit == 32;
}

/* No layer may be left of a network that was there before. */
static spry_status check_folder(const char *path, int64_t width, int64_t depth)
{
    sp_folder f;
    int64_t of, layer;
    spry_status s = sp_folder_read(&f, path);

    for (int64_t i = 0; s == SPRY_OK && i < f.count; i++)
        if (sp_challenge_name(f.name[i], &of, &layer) &&
            (of != width || layer > depth))
            s = sp_fail(SPRY_USAGE,
                        "%s: holds %s of another network; name a new folder",
                        path, f.name[i]);
    sp_folder_free(&f);
    return s;
}

static spry_status write_layer(const spry_layer *l, int64_t number,
                               const char *folder)
{
    sp_buf text = {0};
    char name[64], path[SP_PATH];
    spry_status s;

    if (l->inputs != l->outputs)
        return sp_fail(SPRY_USAGE,
                       "a Graph Challenge folder holds layers of one width; "
                       "layer %lld turns %lld into %lld, which needs .spnet",
                       (long long)number, (long long)l->inputs,
                       (long long)l->outputs);
    if (!is_of_the_challenge(l))
        return sp_fail(SPRY_USAGE,
                       "a Graph Challenge folder holds weights alone, with its "
                       "own bias and clamping at 32; layer %lld has others, "
                       "which needs .spnet",
                       (long long)number);
    snprintf(name, sizeof name, "n%lld-l%lld.tsv", (long long)l->inputs,
             (long long)number);
    s = sp_path_join(path, folder, name);
    if (s != SPRY_OK)
        return s;
    sp_challenge_text(&text, l);
    s = text.failed ? sp_fail_memory((size_t)l->edges * 24)
                    : sp_file_write(path, text.data ? text.data : "", text.len);
    sp_buf_free(&text);
    return s;
}

spry_status sp_challenge_write(spry_layers *from, const char *path)
{
    const spry_layer *layer;
    spry_status s = spry_layers_rewind(from);
    int made = s == SPRY_OK && mkdir(path, 0777) == 0;

    if (s == SPRY_OK && !made && errno != EEXIST)
        s = sp_fail_errno(SPRY_SYSTEM, "%s: cannot be made", path);
    if (s == SPRY_OK)
        s = check_folder(path, from->inputs, from->depth);
    for (int64_t l = 1; s == SPRY_OK && l <= from->depth; l++) {
        s = spry_layers_next(from, &layer);
        if (s == SPRY_OK)
            s = write_layer(layer, l, path);
    }
    if (s != SPRY_OK && made)
        (void)rmdir(path); /* if nothing is in it */
    return s;
}
