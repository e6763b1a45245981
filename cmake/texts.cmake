# What `net export` writes beside its tables: sources of the room `dense` as
# they are, and its templates, as bytes of a C file.
set(export_texts
    include/spry/operator.h src/dense/core.h src/dense/tile.h
    src/dense/tiling.h src/dense/turn.h src/dense/move.h src/dense/pruned.h
    src/dense/tiling.c src/dense/move.c
    src/dense/act.c src/dense/run_direct.c src/dense/run_winograd.c
    src/dense/run_depthwise.c src/dense/run_rows.c src/dense/run_pruned.c
    src/dense/pruned_body.h src/dense/curves_body.h
    src/dense/tile_body.h src/dense/depthwise_body.h
    src/dense/winograd_body.h src/dense/rows_body.h src/dense/plain_body.h
    src/dense/export/base.h.in src/dense/export/loops.h.in
    src/dense/export/network.h.in src/dense/export/network.c.in
    src/dense/export/example.c.in src/dense/export/CMakeLists.txt.in)

set(export_arrays "")
set(export_rows "")
set(export_number 0)
foreach(text IN LISTS export_texts)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${text})
    file(READ ${text} bytes HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes
        "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    get_filename_component(name ${text} NAME)
    string(APPEND export_arrays
        "static const unsigned char text_${export_number}[] = {\n${bytes}0};\n")
    string(APPEND export_rows "    {\"${name}\", text_${export_number}},\n")
    math(EXPR export_number "${export_number} + 1")
endforeach()

set(export_file ${isa_dir}/dense_texts.c)
file(CONFIGURE OUTPUT ${export_file} CONTENT
"/* Written by cmake/texts.cmake. */
#include \"dense/export_inside.h\"

${export_arrays}
const sp_export_text sp_export_texts[] = {
${export_rows}    {0}};
" @ONLY)
target_sources(spry_rooms PRIVATE ${export_file})
