# preload: the runtimes that a program made without the sanitizer has to load
# before it can load a library made with it; "none" where there is no such way
# (clang links its runtimes into programs), empty without a sanitizer.
set(preload "")
if(CMAKE_C_FLAGS MATCHES "sanitize=address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # The second, since the first looks for C++'s exceptions when it begins.
    foreach(name libasan.so libstdc++.so.6)
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${name}
            OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
        string(JOIN ":" preload ${preload} ${file})
    endforeach()
elseif(CMAKE_C_FLAGS MATCHES "sanitize")
    set(preload none)
endif()
