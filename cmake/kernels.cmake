# The generator, run at build time, writes the built-in kernels: two files per
# instruction set, compiled for it and chosen at run time. Plain loops are
# compiled as a user would at best; tuned ones say exactly what they want and
# need no more than -O2.
add_executable(make_kernels tools/make_kernels.c
    src/base/alloc.c src/base/fork.c src/base/buf.c src/base/fail.c src/base/argument.c
    src/base/hash.c
    src/machine/isa.c src/problem/names.c src/problem/operations.c
    src/schedule/table.c src/schedule/nest.c
    src/codegen/spec.c src/codegen/prelude.c
    src/codegen/intrinsics.c src/codegen/emit.c src/codegen/values.c
    src/codegen/spmv.c src/codegen/sell.c src/codegen/spmm.c src/codegen/bcsr.c
    src/codegen/symmetric.c
    src/codegen/sddmm.c src/codegen/mttkrp.c src/codegen/plain.c
    src/codegen/super.c src/codegen/body.c src/codegen/kernel.c
    src/codegen/builtin.c)
target_include_directories(make_kernels PRIVATE ${isa_dir} include src)
target_compile_definitions(make_kernels PRIVATE
    _POSIX_C_SOURCE=200809L SPRY_VERSION="${PROJECT_VERSION}")
target_link_libraries(make_kernels PRIVATE spry_warnings)

set(kernel_dir ${isa_dir})
add_library(spry_kernels OBJECT ${kernel_dir}/table.c)
target_include_directories(spry_kernels PRIVATE include src)
add_custom_command(OUTPUT ${kernel_dir}/table.c DEPENDS make_kernels
    COMMAND make_kernels table ${isa_sets} > ${kernel_dir}/table.c VERBATIM)
foreach(set IN LISTS isa_sets)
    foreach(kind plain tuned)
        set(file ${kernel_dir}/${kind}_${set}.c)
        add_custom_command(OUTPUT ${file} DEPENDS make_kernels
            COMMAND make_kernels ${kind} ${set} > ${file} VERBATIM)
        target_sources(spry_kernels PRIVATE ${file})
        # Where an inner loop happens to begin can cost it a third of its
        # speed; aligned ones are all equally lucky.
        set(flags -std=gnu11 -w -fno-sanitize=all -ffp-contract=fast
            -falign-functions=64 -falign-loops=64 ${isa_${set}_flags})
        if(kind STREQUAL plain)
            # -ffast-math, but NaN and Inf keep their meaning
            list(APPEND flags -O3 -ffast-math -fno-finite-math-only)
        else()
            list(APPEND flags -O2)
        endif()
        set_source_files_properties(${file} PROPERTIES
            COMPILE_OPTIONS "${flags}")
    endforeach()
endforeach()
