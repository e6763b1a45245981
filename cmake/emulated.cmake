# Tests of a build for another architecture: programs run under
# CMAKE_CROSSCOMPILING_EMULATOR. ctest sees to what it starts itself; for what
# scripts and tests start, their environment has
#
#   SPRY_EMULATOR   the words before a program of that architecture
#   PATH            where `cc` is first the cross compiler
#
# and ${emulated_dir}/spry is the command as this machine can start it.
set(emulated_dir ${CMAKE_BINARY_DIR}/emulated)
string(REPLACE ";" " " emulator "${CMAKE_CROSSCOMPILING_EMULATOR}")

function(emulated_script name command)
    file(GENERATE OUTPUT ${emulated_dir}/${name}
        CONTENT "#!/bin/sh\nexec ${command} \"$@\"\n"
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# What tests compile with that are told CC.
set(test_compiler ${emulated_dir}/cc)
emulated_script(cc "${CMAKE_C_COMPILER} --sysroot=${CMAKE_SYSROOT}")
emulated_script(spry "${emulator} $<TARGET_FILE:spry_cli>")

file(WRITE ${emulated_dir}/environment.cmake
"set(ENV{SPRY_EMULATOR} \"${emulator}\")
set(ENV{PATH} \"${emulated_dir}:\$ENV{PATH}\")
set(ENV{PKG_CONFIG_LIBDIR} \"${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig\")
set(ENV{CMAKE_TOOLCHAIN_FILE} \"${CMAKE_TOOLCHAIN_FILE}\")
")
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
    TEST_INCLUDE_FILES ${emulated_dir}/environment.cmake)
