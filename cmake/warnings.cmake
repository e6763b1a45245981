# What both compilers must have nothing to say about.
add_library(spry_warnings INTERFACE)
target_compile_options(spry_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla
    -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2
    -Wdouble-promotion -Wswitch-enum)
option(SPRY_WERROR "a warning is an error" ON)
if(SPRY_WERROR)
    target_compile_options(spry_warnings INTERFACE -Werror)
endif()
