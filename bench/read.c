/* read.c - how fast a Matrix Market file becomes a matrix.
 *
 * Writes a file of 10 million entries (QUICK=1: 1 million) into a temporary
 * directory and reads it with spry on one thread and with SciPy's mmread,
 * each in turn, five times. The file stays in the page cache for both.
 * SciPy runs in a child process that times only its own call. */
#define _DEFAULT_SOURCE /* setenv */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "contest/folder.h"
#include "spry/matrix.h"

enum { ROUNDS = 5 };

static const char script[] =
    "import sys, time\n"
    "from scipy.io import mmread\n"
    "t = time.perf_counter()\n"
    "m = mmread(sys.argv[1])\n"
    "print('seconds', time.perf_counter() - t, m.nnz)\n";

/* Uniform positions, seven-digit values, as many files have them. */
static int write_file(int64_t entries)
{
    int64_t rows = entries / 10;
    sp_rng rng = sp_rng_seed(1);
    FILE *f = fopen("a.mtx", "w");

    if (!f)
        return 0;
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n");
    fprintf(f, "%lld %lld %lld\n", (long long)rows, (long long)rows,
            (long long)entries);
    for (int64_t k = 0; k < entries; k++)
        fprintf(f, "%lld %lld %.7g\n", (long long)(k % rows) + 1,
                (long long)sp_rng_below(&rng, (uint64_t)rows) + 1,
                sp_rng_normal(&rng));
    return fclose(f) == 0;
}

static double time_spry(int threads)
{
    double begin, seconds;
    spry_matrix *m;

    omp_set_num_threads(threads);
    begin = sp_seconds();
    if (spry_matrix_read(&m, "a.mtx") != SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        exit(1);
    }
    seconds = sp_seconds() - begin;
    spry_matrix_free(m);
    return seconds;
}

/* Seconds of mmread, or 0 when there is no SciPy. */
static double time_scipy(void)
{
    char line[256];
    double seconds = 0;
    FILE *f = popen("OMP_NUM_THREADS=1 /usr/bin/python3 mmread.py a.mtx "
                    "2>/dev/null",
                    "r");

    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "seconds ", 8))
            seconds = strtod(line + 8, NULL);
    if (f)
        pclose(f);
    return seconds;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Interleaved rounds until three minutes would be near. */
static void compare(int64_t entries)
{
    double spry[ROUNDS], scipy[ROUNDS], ratio[ROUNDS], began = sp_seconds();
    double all = time_spry(omp_get_num_procs()), typical;
    int n = 0;

    while (n < ROUNDS && (n < 3 || sp_seconds() - began < 75)) {
        spry[n] = time_spry(1);
        scipy[n] = time_scipy();
        if (scipy[n] == 0)
            break;
        ratio[n] = scipy[n] / spry[n];
        n++;
    }
    if (n == 0) {
        printf("spry, 1 thread      %8.3f s\n", spry[0]);
        printf("SciPy is not installed here: nothing to compare with\n");
        return;
    }
    typical = median(ratio, n); /* sorts: the interval is first to last */
    printf("entries             %8lld\n", (long long)entries);
    printf("spry, all threads   %8.3f s\n", all);
    printf("spry, 1 thread      %8.3f s\n", median(spry, n));
    printf("SciPy mmread        %8.3f s\n", median(scipy, n));
    printf("ratio               %8.2f   (%.2f .. %.2f in %d pairs)\n", typical,
           ratio[0], ratio[n - 1], n);
    printf("aim mtx_read_vs_scipy %.2f 3.0 %s\n", typical,
           typical >= 3 ? "met" : "short");
}

int main(void)
{
    const char *quick = getenv("QUICK");
    int64_t entries = quick && *quick == '1' ? 1000000 : 10000000;
    char dir[BENCH_FOLDER];

    if (!bench_folder(dir) || chdir(dir))
        return 1;
    if (write_file(entries) &&
        sp_file_write("mmread.py", script, strlen(script)) == SPRY_OK)
        compare(entries);
    else
        fprintf(stderr, "%s: cannot be written\n", dir);
    bench_folder_remove(dir);
    return 0;
}
