/* text.c - numbers as text, whatever the locale says.
 *
 * Reals are read exactly: a mantissa of at most 64 bits times or over a power
 * of ten is one rounding away from the answer (Clinger 1990); where that one
 * rounding could be the wrong one, the C library decides. */
#define _GNU_SOURCE /* strtod_l */
#include "base/base.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1000 }; /* characters of one number */

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t plain_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_c_locale);
    return c_locale;
}

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Step over a sign; 1 when it was a minus. */
static int scan_sign(const char **at, const char *end)
{
    int minus = *at < end && **at == '-';

    if (*at < end && (**at == '-' || **at == '+'))
        ++*at;
    return minus;
}

int sp_scan_int(const char **at, const char *end, int64_t *out)
{
    const char *p = *at;
    int minus = scan_sign(&p, end);
    const char *first = p;
    int64_t n = 0;

    for (; p < end && is_digit(*p); p++)
        if (p - first < 18)
            n = n * 10 + (*p - '0');
        else if (__builtin_mul_overflow(n, 10, &n) ||
                 __builtin_add_overflow(n, *p - '0', &n))
            return 0;
    if (p == first)
        return 0;
    *at = p;
    *out = minus ? -n : n;
    return 1;
}

/* A real taken apart: digits * 10^exponent. */
typedef struct {
    uint64_t digits;
    int64_t exponent;
    int inexact; /* there were more digits than fit */
} decimal;

/* Add the digits at *at; each one moves the point by `fraction`. Returns
 * whether there were any. */
static int scan_digits(decimal *d, const char **at, const char *end,
                       int fraction)
{
    const char *first = *at, *p = first;

    for (; p < end && is_digit(*p); p++)
        if (d->digits < UINT64_MAX / 10 - 1) {
            d->digits = d->digits * 10 + (uint64_t)(*p - '0');
            d->exponent -= fraction;
        } else {
            d->inexact |= *p != '0';
            d->exponent += !fraction;
        }
    *at = p;
    return p > first;
}

/* "e5", "E-05", Fortran's "D+05"; nothing when no digit follows. */
static void scan_exponent(decimal *d, const char **at, const char *end)
{
    const char *p = *at;
    int64_t e = 0;
    int minus;

    if (p == end || ((*p | 0x20) != 'e' && (*p | 0x20) != 'd'))
        return;
    p++;
    minus = scan_sign(&p, end);
    if (p == end || !is_digit(*p))
        return;
    for (; p < end && is_digit(*p); p++)
        e = e < 100000 ? e * 10 + (*p - '0') : e;
    d->exponent += minus ? -e : e;
    *at = p;
}

/* inf, infinity, nan in any case. */
static int scan_word(const char **at, const char *end, double *out)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"infinity", (double)INFINITY},
                 {"inf", (double)INFINITY},
                 {"nan", (double)NAN}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word), k = 0;

        while (k < n && (size_t)(end - *at) > k &&
               ((*at)[k] | 0x20) == words[i].word[k])
            k++;
        if (k == n) {
            *at += n;
            *out = words[i].value;
            return 1;
        }
    }
    return 0;
}

static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                             1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                             1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* With 64 bits of mantissa (x87) the digits and 10^27 are exact. Rounding to
 * 64 bits and then to 53 is right unless the first lands half way. */
static int cheap_wide(double *out, const decimal *d)
{
#if LDBL_MANT_DIG == 64
    int64_t e = d->exponent < 0 ? -d->exponent : d->exponent;
    long double power, wide;
    uint64_t mantissa;

    if (e > 27)
        return 0;
    power = e <= 22 ? (long double)ten[e] : 1e22L * (long double)ten[e - 22];
    wide = (long double)d->digits;
    wide = d->exponent < 0 ? wide / power : wide * power;
    memcpy(&mantissa, &wide, sizeof mantissa);
    *out = (double)wide;
    return (mantissa & 0x7ff) != 0x400;
#else
    (void)out;
    (void)d;
    return 0;
#endif
}

/* The exact answer when it is cheap; 0 when it is not. */
static int cheap(double *out, const decimal *d)
{
    int64_t e = d->exponent;

    if (d->inexact)
        return 0;
    if (d->digits > (uint64_t)1 << 53 || e < -22 || e > 22) {
        *out = 0;
        return d->digits == 0 || cheap_wide(out, d);
    }
    *out = e < 0 ? (double)d->digits / ten[-e] : (double)d->digits * ten[e];
    return 1;
}

/* Let the C library read from..to, which is known to be a number. */
static int costly(double *out, const char *from, const char *to)
{
    char text[LONGEST + 1];
    size_t n = (size_t)(to - from);

    if (n > LONGEST)
        return 0;
    for (size_t i = 0; i < n; i++)
        text[i] = from[i] == 'd' || from[i] == 'D' ? 'e' : from[i];
    text[n] = 0;
    *out = strtod_l(text, NULL, plain_locale());
    return 1;
}

int sp_scan_real(const char **at, const char *end, double *out)
{
    const char *p = *at, *first;
    int minus = scan_sign(&p, end);
    decimal d = {0};
    int any;
    double v;

    first = p;
    any = scan_digits(&d, &p, end, 0);
    if (p < end && *p == '.') {
        p++;
        any |= scan_digits(&d, &p, end, 1);
    }
    if (any) {
        scan_exponent(&d, &p, end);
        if (!cheap(&v, &d) && !costly(&v, first, p))
            return 0;
    } else {
        p = first;
        if (!scan_word(&p, end, &v))
            return 0;
    }
    *at = p;
    *out = minus ? -v : v;
    return 1;
}

int sp_print_real(char out[SP_REAL], double v, spry_type type)
{
    int digits = type == SPRY_F32 ? 6 : 15, most = type == SPRY_F32 ? 9 : 17;
    locale_t before = uselocale(plain_locale());
    int n = 0;

    for (; digits <= most; digits++) {
        const char *p = out;
        double back;

        n = snprintf(out, SP_REAL, "%.*g", digits, v);
        if (!sp_scan_real(&p, out + n, &back) || back == v ||
            (type == SPRY_F32 && (float)back == (float)v))
            break;
    }
    uselocale(before);
    return n;
}

/* Of C and C++, whose programs read our headers, too; name is no longer than
 * an identifier may be. */
static int is_keyword(const char *name)
{
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case "
        "catch char char16_t char32_t char8_t class co_await co_return "
        "co_yield compl concept const const_cast consteval constexpr "
        "constinit continue decltype default delete do double dynamic_cast "
        "else enum explicit export extern false float for friend goto if "
        "inline int long mutable namespace new noexcept not not_eq nullptr "
        "operator or or_eq private protected public register "
        "reinterpret_cast requires restrict return short signed sizeof "
        "static static_assert static_cast struct switch template this "
        "thread_local throw true try typedef typeid typename typeof "
        "typeof_unqual union unsigned using virtual void volatile wchar_t "
        "while xor xor_eq _Alignas _Alignof _Atomic _BitInt _Bool _Complex "
        "_Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary _Noreturn "
        "_Static_assert _Thread_local ";
    char word[70];

    snprintf(word, sizeof word, " %s ", name);
    return strstr(words, word) != NULL;
}

int sp_is_identifier(const char *name)
{
    static const char digits[] = "0123456789";
    static const char all[] = "0123456789_abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strlen(name);

    return n > 0 && n < 64 && !strchr(digits, name[0]) &&
           strspn(name, all) == n && !is_keyword(name);
}

int sp_parse_count(const char *text, double *out)
{
    static const struct {
        char letter;
        double times;
    } units[] = {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
    const char *p = text, *end = text + strlen(text);
    double v;

    if (!sp_scan_real(&p, end, &v) || !isfinite(v) || v < 0)
        return 0;
    for (size_t i = 0; p < end && i < sizeof units / sizeof *units; i++)
        if (*p == units[i].letter) {
            v *= units[i].times;
            p++;
            break;
        }
    if (p != end)
        return 0;
    *out = v;
    return 1;
}
