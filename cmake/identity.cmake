# What the kernels of dense operators and networks are made of, as one number:
# their texts, the compiler and its flags. Stored answers name it, so that
# what other kernels found to be right is looked at once more, and equal
# builds, in whatever folder, believe each other.
#
# Run as a script it writes the number: -DTOP=, -DOUT=, -DWITH=.
set(identity_rooms dense form inference)

if(CMAKE_SCRIPT_MODE_FILE)
    set(all "${WITH}\n")
    set(files CMakeLists.txt cmake/isas.cmake src/machine/isas.def)
    foreach(room IN LISTS identity_rooms)
        file(GLOB found RELATIVE ${TOP} ${TOP}/src/${room}/*.[ch])
        list(SORT found)
        list(APPEND files ${found})
    endforeach()
    foreach(file IN LISTS files)
        file(SHA256 ${TOP}/${file} sum)
        string(APPEND all "${file} ${sum}\n")
    endforeach()
    string(SHA256 sum "${all}")
    string(SUBSTRING ${sum} 0 16 sum)
    file(WRITE ${OUT}
        "/* Written by cmake/identity.cmake. */\n#define SP_IDENTITY \"${sum}\"\n")
    return()
endif()

# Flags that only say where the sources are change no kernel.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(with "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}} ${SPRY_LOWER_AVX512}")
string(REGEX REPLACE "-f[a-z]+-prefix-map=[^ ]*" "" with "${with}")

set(identity_file ${isa_dir}/base/identity.h)
file(GLOB identity_parts CONFIGURE_DEPENDS src/dense/*.[ch] src/form/*.[ch]
    src/inference/*.[ch])
add_custom_command(OUTPUT ${identity_file} VERBATIM
    DEPENDS ${identity_parts} CMakeLists.txt cmake/isas.cmake
        cmake/identity.cmake src/machine/isas.def
    COMMAND ${CMAKE_COMMAND} -DTOP=${PROJECT_SOURCE_DIR} -DOUT=${identity_file}
        "-DWITH=${with}" -P ${PROJECT_SOURCE_DIR}/cmake/identity.cmake)
target_sources(spry_rooms PRIVATE ${identity_file})
