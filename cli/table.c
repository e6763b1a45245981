/* table.c - rows of cells, into columns that line up. */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 16, CELL = 256, GAP = 2, NARROWEST = 12 };

typedef struct {
    char cell[COLUMNS][CELL];
    int bold;
} row;

struct table {
    char title[COLUMNS][32];
    int right[COLUMNS], columns;
    row *rows;
    int count, room, filled; /* cells in the last row */
};

table *table_new(const char *columns)
{
    table *t = calloc(1, sizeof *t);

    while (t && *columns && t->columns < COLUMNS) {
        size_t len = strcspn(columns, "<>");

        snprintf(t->title[t->columns], sizeof t->title[0], "%.*s", (int)len,
                 columns);
        t->right[t->columns++] = columns[len] == '>';
        columns += len + (columns[len] != 0);
    }
    return t;
}

/* The row to fill next, or NULL when memory is short. */
static row *current(table *t)
{
    if (t->count && t->filled < t->columns)
        return &t->rows[t->count - 1];
    if (t->count == t->room) {
        int room = t->room ? 2 * t->room : 16;
        row *more = realloc(t->rows, (size_t)room * sizeof *more);

        if (!more)
            return NULL;
        t->rows = more;
        t->room = room;
    }
    memset(&t->rows[t->count], 0, sizeof *t->rows);
    t->filled = 0;
    return &t->rows[t->count++];
}

void table_cell(table *t, const char *fmt, ...)
{
    row *r = t ? current(t) : NULL;
    va_list args;

    if (!r)
        return;
    va_start(args, fmt);
    vsnprintf(r->cell[t->filled++], CELL, fmt, args);
    va_end(args);
}

void table_share(table *t, int known, double share)
{
    if (known)
        table_cell(t, "%.0f %%", 100 * share);
    else
        table_cell(t, "%s", "");
}

void table_bold(table *t)
{
    if (t && t->count)
        t->rows[t->count - 1].bold = 1;
}

static int widest(const table *t, const int width[COLUMNS])
{
    int best = 0;

    for (int c = 1; c < t->columns; c++)
        if (width[c] > width[best])
            best = c;
    return best;
}

/* What the cells need; the widest columns give way to fit into limit. */
static void measure(const table *t, int width[COLUMNS], int limit)
{
    int total = -GAP;

    for (int c = 0; c < t->columns; c++) {
        width[c] = (int)strlen(t->title[c]);
        for (int i = 0; i < t->count; i++)
            if ((int)strlen(t->rows[i].cell[c]) > width[c])
                width[c] = (int)strlen(t->rows[i].cell[c]);
        total += width[c] + GAP;
    }
    while (limit && total > limit && width[widest(t, width)] > NARROWEST) {
        width[widest(t, width)]--;
        total--;
    }
}

/* Trailing blanks are left out, so that output pastes well. */
static void print_cell(FILE *out, const char *text, int width, int right,
                       int last)
{
    int len = (int)strlen(text);
    int cut = len > width;

    if (right)
        fprintf(out, "%*s", width > len ? width - len : 0, "");
    fprintf(out, "%.*s%s", cut ? width - 2 : len, text, cut ? ".." : "");
    if (!right && !last)
        fprintf(out, "%*s", width > len ? width - len : 0, "");
    fputs(last ? "\n" : "  ", out);
}

void table_print(table *t, FILE *out)
{
    int width[COLUMNS] = {0};

    if (!t)
        return;
    measure(t, width, say_width(out));
    for (int c = 0; c < t->columns; c++)
        print_cell(out, t->title[c], width[c], t->right[c],
                   c == t->columns - 1);
    for (int i = 0; i < t->count; i++) {
        fputs(t->rows[i].bold ? say_bold(out) : "", out);
        for (int c = 0; c < t->columns; c++)
            print_cell(out, t->rows[i].cell[c], width[c], t->right[c],
                       c == t->columns - 1);
        fputs(t->rows[i].bold ? say_plain(out) : "", out);
    }
    free(t->rows);
    free(t);
}
