/* edges.c - lists of edges or of triples to a matrix.
 *
 *     # comment          two columns: a graph, vertices counted from 0,
 *     0 1                square up to the largest vertex, values 1
 *
 *     1 3 0.0625         three columns: row, column, value; as large as the
 *                        largest of each
 *
 * Triples in a .tsv count from 1, as the Graph Challenge writes them; every
 * other list counts from 0. Further columns (times, labels) are ignored. */
#include <string.h>
#include <strings.h>

#include "matrix/internal.h"

/* Does the name end in .tsv or .tsv.gz? */
static int is_tsv(const char *name)
{
    size_t n = strlen(name);

    if (n > 3 && !strcasecmp(name + n - 3, ".gz"))
        n -= 3;
    return n > 4 && !strncasecmp(name + n - 4, ".tsv", 4);
}

spry_status sp_edges_parse(spry_matrix **out, const sp_text *t)
{
    const char *first = sp_skip_blanks(t->data, t->end);
    sp_lines lines = {.at = t->data, .more = 1};
    int64_t rows, cols;
    sp_triples triples;
    spry_status s;

    lines.rows = lines.cols = INT64_MAX;
    lines.comment = first < t->end && *first == '%' ? '%' : '#';
    first = sp_skip_comments(first, t->end, lines.comment);
    lines.values = sp_count_words(first, t->end) > 2;
    lines.base = lines.values && is_tsv(t->name);
    s = sp_lines_read(&triples, t, &lines, -1);
    if (s != SPRY_OK)
        return s;
    rows = sp_index_size(triples.row, triples.nnz);
    cols = sp_index_size(triples.col, triples.nnz);
    if (!lines.values)
        rows = cols = rows > cols ? rows : cols;
    return sp_triples_finish(out, t, &triples, rows, cols, 0, SPRY_F64);
}
