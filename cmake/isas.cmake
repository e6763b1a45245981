# Instruction sets, out of their one table, src/machine/isas.def:
#
#   isa_sets             those of this processor that this compiler can make
#   isa_<set>_flags      what it needs to be told for one
#   isa_<set>_bytes      of a vector register
#   spry_per_isa()       compile a body once for each
#
# ${isa_dir}/machine/built.h lists isa_sets for C.
include(CheckCCompilerFlag)
set(isa_dir ${CMAKE_BINARY_DIR}/kernels)
set(isa_table ${PROJECT_SOURCE_DIR}/src/machine/isas.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${isa_table})
file(READ ${isa_table} rows)

# AVX-512 for a CPU that has AVX2 only: the same text, vectors of 64 bytes made
# of two by the compiler and its few intrinsics by tests/avx512. The table is
# rewritten to say so, and found before the one of src.
file(REMOVE ${isa_dir}/machine/isas.def)
if(SPRY_LOWER_AVX512)
    set(lowered ${PROJECT_SOURCE_DIR}/tests/avx512)
    string(REGEX REPLACE "X86\\(\"avx512[a-z]+\"\\)" "X86(\"avx2\")" rows
        "${rows}")
    string(REGEX REPLACE "\"-mavx512f\"[^}]*\"-mavx2\""
        "\"-I${lowered}\", \"-include${lowered}/streams.h\", \"-mavx2\"" rows
        "${rows}")
    file(WRITE ${isa_dir}/machine/isas.def "${rows}")
    # A compiler cache sees other words, too, not only another table.
    add_compile_definitions(SPRY_LOWER_AVX512)
    target_compile_definitions(spry_rooms PRIVATE SPRY_LOWER_AVX512)
    message(STATUS "AVX-512: lowered to AVX2, for tests")
endif()

string(REPLACE "arm64" "aarch64" isa_processor "${CMAKE_SYSTEM_PROCESSOR}")
string(REPLACE "AMD64" "x86_64" isa_processor "${isa_processor}")

# Can this compiler make it? Its flags are tried together.
function(isa_try set id)
    if(isa_${set}_flags)
        string(REPLACE ";" " " flags "${isa_${set}_flags}")
        check_c_compiler_flag("${flags}" SPRY_HAS_${id})
    else()
        set(SPRY_HAS_${id} 1)
    endif()
    if(SPRY_HAS_${id})
        set(isa_sets ${isa_sets} ${set} PARENT_SCOPE)
        set(isa_built "${isa_built} X(${id}, ${set})" PARENT_SCOPE)
    endif()
endfunction()

string(REPLACE "SP_ISA(" ";" rows "${rows}")
foreach(wanted ${isa_processor} any) # the portable one where no other is
    foreach(row IN LISTS rows)
        if(row MATCHES "^([A-Z0-9]+), ([a-z0-9]+), ([a-z0-9_]+)," AND
           CMAKE_MATCH_3 STREQUAL wanted AND NOT (wanted STREQUAL any AND isa_sets))
            set(id ${CMAKE_MATCH_1})
            set(set ${CMAKE_MATCH_2})
            string(REGEX MATCHALL "\"-[^\"]+\"" flags "${row}")
            string(REPLACE "\"" "" isa_${set}_flags "${flags}")
            string(REGEX REPLACE ".*[.]bytes = ([0-9]+).*" "\\1" isa_${set}_bytes
                "${row}")
            isa_try(${set} ${id})
        endif()
    endforeach()
endforeach()
message(STATUS "Instruction sets built in: ${isa_sets}")

file(CONFIGURE OUTPUT ${isa_dir}/machine/built.h CONTENT
"/* built.h - the instruction sets built in, written by cmake/isas.cmake. */
#define SP_BUILT_ISAS(X)${isa_built}
" @ONLY)

# Compile src/`body` once for each set, with its flags and those that follow,
# as part of `target`. The body finds SET(name), which is the name with the
# set's behind it, and BYTES, those of a vector register.
function(spry_per_isa target stem body)
    # Made for speed where speed is asked for: a sanitizer's loops would take
    # the compiler minutes each.
    list(TRANSFORM ARGN REPLACE "^-O3$" "$<$<CONFIG:Release>:-O3>"
        OUTPUT_VARIABLE options)
    if(SPRY_FUZZ) # they read nothing that comes from outside
        list(APPEND options -fno-sanitize=all)
    endif()
    foreach(set IN LISTS isa_sets)
        set(file ${isa_dir}/${stem}_${set}.c)
        file(CONFIGURE OUTPUT ${file} CONTENT
"/* Written by cmake/isas.cmake. */
#define SET(name) name##_${set}
#define BYTES ${isa_${set}_bytes}
#include \"${body}\"
" @ONLY)
        target_sources(${target} PRIVATE ${file})
        set_source_files_properties(${file} PROPERTIES
            COMPILE_OPTIONS "${options};${isa_${set}_flags}")
    endforeach()
endfunction()
