# What `make install` leaves behind: the libraries, their headers, the
# command, its manual, and the two ways to find them, pkg-config and CMake.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spry)

install(TARGETS spry EXPORT spry-targets)
install(TARGETS spry_static EXPORT spry-static-targets)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET spry_cli)
    install(TARGETS spry_cli)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/docs/spry.1)
    install(FILES docs/spry.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
# Section 3 from the headers, completions from the command's own tables.
file(GLOB public_headers CONFIGURE_DEPENDS include/spry/*.h)
set(man_dir ${PROJECT_BINARY_DIR}/man3)
add_custom_command(OUTPUT ${man_dir}/spry-tune.3
    COMMAND ${PROJECT_SOURCE_DIR}/tools/man3.sh ${PROJECT_SOURCE_DIR}/include
        ${man_dir} ${PROJECT_VERSION}
    DEPENDS ${public_headers} tools/man3.sh VERBATIM)
add_custom_target(spry_man ALL DEPENDS ${man_dir}/spry-tune.3)
install(DIRECTORY ${man_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
set(word_dir ${PROJECT_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${word_dir})
if(TARGET spry_cli)
    foreach(shell bash zsh fish)
        add_custom_command(OUTPUT ${word_dir}/spry.${shell}
            COMMAND spry_cli completion ${shell} >${word_dir}/spry.${shell}
            DEPENDS spry_cli)
        list(APPEND word_files ${word_dir}/spry.${shell})
    endforeach()
    add_custom_target(spry_completion ALL DEPENDS ${word_files})
    install(FILES ${word_dir}/spry.bash RENAME spry
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${word_dir}/spry.zsh RENAME _spry
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${word_dir}/spry.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(DIRECTORY docs/schemas/ DESTINATION ${CMAKE_INSTALL_DATADIR}/spry/schemas)
if(EXISTS ${PROJECT_SOURCE_DIR}/models)
    install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/spry/models)
endif()

# pkg-config: relative to the .pc file itself, so that DESTDIR, --prefix and
# moving the tree afterwards all work.
file(RELATIVE_PATH pc_to_prefix
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/spry.pc.in spry.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/spry.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# CMake: spry::spry is the shared library; the static one brings its
# dependencies along, so it is found only when asked for.
foreach(set spry-targets spry-static-targets)
    install(EXPORT ${set} NAMESPACE spry:: DESTINATION ${package_dir})
endforeach()
configure_package_config_file(cmake/spry-config.cmake.in
    ${PROJECT_BINARY_DIR}/spry-config.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/spry-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/spry-config.cmake
              ${PROJECT_BINARY_DIR}/spry-config-version.cmake
        DESTINATION ${package_dir})

# The module file names the prefix that is installed to, known only then.
set(module_dir ${CMAKE_INSTALL_DATADIR}/modulefiles/spry)
foreach(name PROJECT_VERSION CMAKE_INSTALL_LIBDIR)
    install(CODE "set(${name} \"${${name}}\")")
endforeach()
install(CODE "configure_file(
    \"${PROJECT_SOURCE_DIR}/packaging/spry.modulefile.in\"
    \"${PROJECT_BINARY_DIR}/spry.modulefile\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/spry.modulefile RENAME ${PROJECT_VERSION}
        DESTINATION ${module_dir})
