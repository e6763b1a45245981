/* machines.c - the machines of published records, as their makers and
 * vendors describe them. Nothing about them was measured here. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "import/internal.h"

static const struct {
    const char *word; /* in a file's name */
    const char *text; /* docs/formats.md */
} machines[] = {
    {"epyc7543", "name AMD EPYC 7543\nsockets 2\ncores 64\nthreads 128\n"
                 "line 64\nisa avx2\ncache_bytes 32768 524288 33554432\n"
                 "cache_shared_by 1 1 4\nprobed 0\n"},
    {"e5_2620v4", "name Intel Xeon E5-2620 v4\nsockets 2\ncores 16\n"
                  "threads 32\nline 64\nisa avx2\n"
                  "cache_bytes 32768 262144 20971520\n"
                  "cache_shared_by 1 1 8\nprobed 0\n"},
    {"8272cl", "name Intel Xeon Platinum 8272CL\nsockets 2\ncores 52\n"
               "threads 104\nline 64\nisa avx512\n"
               "cache_bytes 32768 1048576 37486592\n"
               "cache_shared_by 1 1 26\nprobed 0\n"},
    {"e5_2680v3", "name Intel Xeon E5-2680 v3\nsockets 2\ncores 24\n"
                  "threads 48\nline 64\nisa avx2\n"
                  "cache_bytes 32768 262144 31457280\n"
                  "cache_shared_by 1 1 12\nprobed 0\n"},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* Short words for the same, tried after the others. */
static const struct {
    const char *word;
    int machine;
} nicknames[] = {{"epyc", 0}, {"xeon", 1}};

/* Does the file's name begin with the word, as a whole word? "epyc" is the
 * beginning of epyc__x.tsv and epyc_old__x.json, not of epyc7742__x.tsv. */
static int begins(const char *name, const char *word)
{
    size_t n = strlen(word);

    return strncasecmp(name, word, n) == 0 && !isalnum((unsigned char)name[n]);
}

spry_status sp_import_machine(spry_machine *out, const char *text, int cores)
{
    const char *name = sp_import_base(text);
    const char *mark = strstr(name, "__");
    char unknown[256], host[64];

    snprintf(host, sizeof host, "%.*s", mark ? (int)(mark - name) : 63, name);
    for (int i = 0; i < MACHINES; i++)
        if (sp_import_says(host, machines[i].word))
            return spry_machine_parse(out, machines[i].text, "machines.c");
    for (size_t i = 0; i < sizeof nicknames / sizeof nicknames[0]; i++)
        if (begins(host, nicknames[i].word))
            return spry_machine_parse(out, machines[nicknames[i].machine].text,
                                      "machines.c");
    if (cores < 1)
        return sp_fail(SPRY_USAGE,
                       "%s: its name does not say which machine it is of; "
                       "--machine does",
                       text);
    snprintf(
        unknown, sizeof unknown,
        "name unknown, %d cores\nsockets 1\ncores %d\nthreads %d\nline 64\n"
        "isa avx2\ncache_bytes 32768 262144 0\ncache_shared_by 1 1 1\n"
        "probed 0\n",
        cores, cores, cores);
    return spry_machine_parse(out, unknown, "machines.c");
}

/* Devices of Ginkgo's tables, by how their files begin. Rates are those of
 * data sheets, of all cores for bandwidth and of one for arithmetic: nobody
 * here has measured them. */
static const struct {
    const char *word, *text;
} devices[] = {
    {"K20Xm_",
     "name NVIDIA Tesla K20Xm\ncores 14\nthreads 14\nline 128\nisa portable\ncache_bytes 65536 1572864 0\ncache_shared_by 1 14 1\nmemory 6442450944\nprobed 1\nat 14\nread 2.5e11\ntriad 2.5e11\nfma_f32 2.81e+11\nfma_f64 9.36e+10\n"},
    {"K40m_",
     "name NVIDIA Tesla K40m\ncores 15\nthreads 15\nline 128\nisa portable\ncache_bytes 65536 1572864 0\ncache_shared_by 1 15 1\nmemory 12884901888\nprobed 1\nat 15\nread 2.88e11\ntriad 2.88e11\nfma_f32 2.86e+11\nfma_f64 9.53e+10\n"},
    {"P100_",
     "name NVIDIA Tesla P100\ncores 56\nthreads 56\nline 128\nisa portable\ncache_bytes 24576 4194304 0\ncache_shared_by 1 56 1\nmemory 17179869184\nprobed 1\nat 56\nread 7.32e11\ntriad 7.32e11\nfma_f32 1.66e+11\nfma_f64 8.39e+10\n"},
    {"V100_SXM2",
     "name NVIDIA V100 SXM2\ncores 80\nthreads 80\nline 128\nisa portable\ncache_bytes 131072 6291456 0\ncache_shared_by 1 80 1\nmemory 34359738368\nprobed 1\nat 80\nread 9e11\ntriad 9e11\nfma_f32 1.96e+11\nfma_f64 9.75e+10\n"},
    {"V100_summit",
     "name NVIDIA V100 (Summit)\ncores 80\nthreads 80\nline 128\nisa portable\ncache_bytes 131072 6291456 0\ncache_shared_by 1 80 1\nmemory 17179869184\nprobed 1\nat 80\nread 9e11\ntriad 9e11\nfma_f32 1.96e+11\nfma_f64 9.75e+10\n"},
    {"A100_",
     "name NVIDIA A100\ncores 108\nthreads 108\nline 128\nisa portable\ncache_bytes 196608 41943040 0\ncache_shared_by 1 108 1\nmemory 42949672960\nprobed 1\nat 108\nread 1.555e12\ntriad 1.555e12\nfma_f32 1.81e+11\nfma_f64 8.98e+10\n"},
    {"MI100_",
     "name AMD MI100\ncores 120\nthreads 120\nline 128\nisa portable\ncache_bytes 16384 8388608 0\ncache_shared_by 1 120 1\nmemory 34359738368\nprobed 1\nat 120\nread 1.228e12\ntriad 1.228e12\nfma_f32 1.92e+11\nfma_f64 9.58e+10\n"},
    {"RadeonVII",
     "name AMD Radeon VII\ncores 60\nthreads 60\nline 128\nisa portable\ncache_bytes 16384 4194304 0\ncache_shared_by 1 60 1\nmemory 17179869184\nprobed 1\nat 60\nread 1.024e12\ntriad 1.024e12\nfma_f32 2.23e+11\nfma_f64 5.6e+10\n"},
    {"Gen9_",
     "name Intel Gen9 UHD P630\ncores 24\nthreads 24\nline 128\nisa portable\ncache_bytes 0 524288 0\ncache_shared_by 1 24 1\nprobed 1\nat 24\nread 4.16e10\ntriad 4.16e10\nfma_f32 1.83e+10\nfma_f64 4.58e+09\n"},
    {"dg1_", "name Intel DG1\ncores 96\nthreads 96\nline 128\nisa portable\ncache_bytes 0 16777216 0\ncache_shared_by 1 96 1\nmemory 4294967296\nprobed 1\nat 96\nread 6.8e10\ntriad 6.8e10\nfma_f32 2.56e+10\nfma_f64 0\n"},
    {"AG_",
     "name AMD AG, unreleased\ncores 1\nthreads 1\nline 128\nisa portable\ncache_bytes 0 0 0\ncache_shared_by 1 1 1\nprobed 0\n"},
    {"E5-2670_omp",
     "name Intel Xeon E5-2670\nsockets 2\ncores 16\nthreads 16\nline 64\nisa sse2\ncache_bytes 32768 262144 20971520\ncache_shared_by 1 1 8\nprobed 0\n"},
    {"E5-2670_reference",
     "name Intel Xeon E5-2670\nsockets 2\ncores 16\nthreads 1\nline 64\nisa sse2\ncache_bytes 32768 262144 20971520\ncache_shared_by 1 1 8\nprobed 0\n"},
};

spry_status sp_import_device(spry_machine *out, const char *path)
{
    const char *name = sp_import_base(path);

    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (strncasecmp(name, devices[i].word, strlen(devices[i].word)) == 0)
            return spry_machine_parse(out, devices[i].text, "machines.c");
    return sp_fail(SPRY_USAGE,
                   "%s: its name begins with no device that is known; "
                   "--machine says which it is of",
                   path);
}
