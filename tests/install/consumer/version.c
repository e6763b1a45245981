/* version.c - the smallest program: say which library answers. */
#include <spry.h>
#include <stdio.h>

int main(void)
{
    return puts(spry_version()) < 0;
}
