/* options.c - the sanitizers' defaults in a fuzz target: what they keep for
 * the sake of a report is paid for by every input. Less of it makes targets
 * faster and leaves a memory limit to the reader. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "malloc_context_size=4:quarantine_size_mb=16:"
           "max_malloc_fill_size=256";
}
