install(TARGETS spry spry_static EXPORT spry-targets)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
