#!/bin/sh
# test.sh PROGRAMS LIBRARY BUILD - the same program with and without spry: as
# many iterations, the same integers, on 1, 2 and 4 ranks.
set -eu
solve=$1/petsc-solve
changes=$1/petsc-changes
dates=$1/petsc-dates
library=$2
build=$3
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

if ! command -v mpirun >/dev/null; then
    echo "SKIPPED: mpirun is not installed (make deps-all)"
    exit 77
fi
# More ranks than cores, in a container, too.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
# What MPI and Python never free is not ours.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}"
spry="-dll_append $library -mat_seqaij_type seqaijspry -spry_least 0"
spry="$spry -spry_store :memory: -spry_threads 1"

fail()
{
    echo "$*"
    cat "$here"/*.out
    exit 1
}

# run NAME RANKS OPTIONS...: what must not depend on who multiplies.
run()
{
    name=$1 ranks=$2
    shift 2
    mpirun -np "$ranks" "$solve" -n 7 -columns 5 "$@" >"$here/$name.out" 2>&1 ||
        fail "$name fails: -np $ranks $*"
    sed -n 's/.*\(squares .*\)/\1/p' "$here/$name.out"
}

# The iterations of the runs called plain and tuned are the same, or nearly.
as_many()
{
    apart=$(($(iterations plain) - $(iterations tuned)))
    case $apart in
    -1 | 0 | 1) ;;
    *) fail "other iterations: $*" ;;
    esac
}

iterations()
{
    sed -n 's/^iterations \([0-9]*\) .*/\1/p' "$here/$1.out"
}

for problem in poisson elasticity; do
    for pc in jacobi gamg; do
        for ranks in 1 2 4; do
            set -- "$ranks" -problem $problem -pc_type $pc
            plain=$(run plain "$@")
            tuned=$(PETSC_OPTIONS="$spry -info :mat" run tuned "$@")
            [ -n "$plain" ] || fail "no integers: $*"
            [ "$plain" = "$tuned" ] || fail "other integers: $*"
            grep -q "spry multiplies by" "$here/tuned.out" ||
                fail "spry did not multiply: $*"
            as_many "$@"
        done
    done
done

# Parts of a matrix over ranks.
for ranks in 2 4; do
    set -- $ranks -problem elasticity -pc_type fieldsplit \
        -pc_fieldsplit_block_size 3 -fieldsplit_pc_type jacobi -ksp_type fgmres
    plain=$(run plain "$@")
    tuned=$(PETSC_OPTIONS="$spry" run tuned "$@")
    [ -n "$plain" ] || fail "no integers: $*"
    [ "$plain" = "$tuned" ] || fail "other integers: $*"
    as_many "$@"
done

# alter NAME RANKS OPTIONS...: all that can happen between two products.
alter()
{
    name=$1 ranks=$2
    shift 2
    mpirun -np "$ranks" "$changes" "$@" >"$here/$name.out" 2>&1 ||
        fail "changes fail: -np $ranks $*"
}

for ranks in 1 2 4; do
    alter plain "$ranks"
    PETSC_OPTIONS="$spry" alter tuned "$ranks"
    cmp "$here/plain.out" "$here/tuned.out" || fail "changed on $ranks ranks"
done
PETSC_OPTIONS="$spry -spry_effort measure -spry_budget 0.02" alter tuned 1
alter plain 1
cmp "$here/plain.out" "$here/tuned.out" || fail "changed, measured"
# Measured at once, and after values have changed.
for ranks in 1 2; do
    for when in "-spry_effort measure" "-spry_after 1e-9"; do
        alter plain "$ranks" -values
        PETSC_OPTIONS="$spry $when -spry_budget 0.02" \
            alter tuned "$ranks" -values
        cmp "$here/plain.out" "$here/tuned.out" ||
            fail "changed on $ranks ranks, $when"
    done
done
# A program that ends PETSc and begins again.
alter plain 2 -twice -values
PETSC_OPTIONS="$spry" alter tuned 2 -twice -values
cmp "$here/plain.out" "$here/tuned.out" || fail "changed, the second time"
# Widths that come once have no plan; the last one, which stays, has.
alter plain 1 -widths
PETSC_OPTIONS="$spry -info $here/info:mat" alter tuned 1 -widths
cmp "$here/plain.out" "$here/tuned.out" || fail "other columns"
[ "$(cat "$here"/info* | grep -c "spry multiplies by")" = 2 ] ||
    fail "a plan of every width"
rm "$here"/info*
# A matrix that is left to AIJ is said to be, once.
PETSC_OPTIONS="$spry -info :mat" alter tuned 1
[ "$(grep -c "to AIJ: columns are not in order" "$here/tuned.out")" = 1 ] ||
    fail "a matrix without order is looked at again and again"

# said RANKS WORDS OPTIONS...: how often ranks say it while they solve.
said()
{
    ranks=$1 words=$2
    shift 2
    PETSC_OPTIONS="$spry -info :mat -spry_budget 0.4 $*" mpirun -np "$ranks" \
        "$solve" -n 8 -pc_type jacobi >"$here/said.out" 2>&1 ||
        fail "fails: -np $ranks $*"
    grep -c "$words" "$here/said.out" || true
}

# Planes of a cube: the blocks on the diagonal are equal on all ranks, and so
# are those beside it on the two in the middle. Each is measured once.
for case in 1:0:1 2:1:3 4:4:4; do
    ranks=${case%%:*} here_and_there=${case#*:}
    shared=$(said "$ranks" "as rank . measured" -spry_effort measure)
    measured=$(grep -c ", measured at" "$here/said.out" || true)
    [ "$shared:$measured" = "$here_and_there" ] ||
        fail "$ranks ranks took $shared answers and measured $measured times"
done
# Once it is paid for, all measure at the same product.
for ranks in 2 4; do
    [ "$(said $ranks ", measured at" -spry_after 1e-9)" -gt 1 ] ||
        fail "nothing was measured on $ranks ranks"
    apart=$(sed -n 's/.*, measured at //p' "$here/said.out" | sort -u)
    [ "$apart" = "product 3" ] || fail "not all at once: $apart"
done

mpirun -np 2 "$dates" >"$here/dates.out" 2>&1 ||
    fail "ranks do not agree on when to measure"

# Installed, it is where pkg-config says.
DESTDIR=$here/stage cmake --install "$build/petsc" --prefix /opt/spry >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$here/stage" -name spry_petsc.pc)")
[ -e "$PKG_CONFIG_PATH/spry_petsc.pc" ] || fail "no spry_petsc.pc"
there=$(PKG_CONFIG_PATH=$PKG_CONFIG_PATH \
    pkg-config --variable=plugin spry_petsc)
installed="-dll_append $there ${spry#* * }"
same=$(LD_LIBRARY_PATH=$build PETSC_OPTIONS="$installed -info :mat" \
    run tuned 1 -pc_type jacobi)
[ "$same" = "$(run plain 1 -pc_type jacobi)" ] || fail "installed: $there"
grep -q "spry multiplies by" "$here/tuned.out" || fail "nothing at $there"

# What fails is left to AIJ.
broken="-dll_append $library -mat_seqaij_type seqaijspry -spry_least 0"
broken="$broken -spry_effort measure -spry_store $here/no/such/folder/db"
same=$(PETSC_OPTIONS="$broken -info :mat" run tuned 1 -pc_type jacobi)
grep -q "spry leaves this product to AIJ: " "$here/tuned.out" ||
    fail "what failed is not said"
[ "$same" = "$(run plain 1 -pc_type jacobi)" ] || fail "no way back to AIJ"
# Rows of many entries: over ranks the product is spry's, too; integers are the
# same on any number of them.
alone=$(run plain 1 -problem box -pc_type jacobi -columns 19)
for ranks in 2 3 4; do
    for problem in box elasticity; do
        set -- $ranks -problem $problem -pc_type jacobi -columns 19
        plain=$(run plain "$@")
        tuned=$(PETSC_OPTIONS="$spry -info :mat" run tuned "$@")
        [ -n "$plain" ] || fail "no integers: $*"
        [ "$plain" = "$tuned" ] || fail "another product over ranks: $*"
        grep -q "spry multiplies columns over ranks" "$here/tuned.out" ||
            fail "spry left the product over ranks to PETSc: $*"
        [ $problem != box ] || [ "$tuned" = "$alone" ] ||
            fail "other integers than on one rank: $*"
    done
done
# -log_view counts what AIJ would: no product is missing.
flops()
{
    awk '$1 == "MatMatMultNum" { print $6 }' "$here/$1.out"
}
for ranks in 1 2; do
    set -- $ranks -problem box -pc_type jacobi -columns 19 -log_view
    run plain "$@" >"$here/squares"
    PETSC_OPTIONS="$spry" run tuned "$@" >"$here/squares"
    [ -n "$(flops plain)" ] || fail "no operations are counted: $*"
    [ "$(flops plain)" = "$(flops tuned)" ] ||
        fail "operations: AIJ $(flops plain), spry $(flops tuned)"
done

# 0 threads are the default: at least one, where ranks are more than cores, too.
threads()
{
    PETSC_OPTIONS="${spry%-spry_threads*} -info $*" run tuned 4 >"$here/squares"
    sed -n 's/.*spry: \([0-9]*\) threads a rank.*/\1/p' "$here/tuned.out" |
        sort -u
}
[ "$(threads)" -ge 1 ] || fail "threads by default: $(threads)"
[ "$(threads -spry_threads 0)" = "$(threads)" ] || fail "0 threads a rank"
[ "$(threads -spry_threads 3)" = 3 ] || fail "not as many threads as asked for"
if PETSC_OPTIONS="$spry -spry_threads -1" mpirun -np 1 "$solve" -n 7 \
    >"$here/tuned.out" 2>&1; then
    fail "-1 threads are taken"
fi
grep -q "spry_threads -1 is less than 0" "$here/tuned.out" ||
    fail "-1 threads: not a word"

# A program in Python; PRELOAD is the sanitizer's runtime, if there is one.
python()
{
    ranks=$1
    shift
    if [ -n "${PRELOAD-}" ]; then
        set -- env LD_PRELOAD="$PRELOAD" /usr/bin/python3 "$@"
    else
        set -- /usr/bin/python3 "$@"
    fi
    SPRY_HOME=$here mpirun -np "$ranks" "$@"
}

example=$(dirname "$0")/examples/poisson.py
if [ "${PRELOAD-}" = none ]; then
    echo "SKIPPED: Python cannot load a library with clang's sanitizer"
elif /usr/bin/python3 -c 'import petsc4py' 2>/dev/null; then
    for ranks in 1 2 4; do
        python "$ranks" "$example" "" 14 >"$here/python.out"
        PETSC_OPTIONS="-info $here/info:mat" \
            python "$ranks" "$example" "$library" 14 >"$here/spry.out"
        cmp "$here/python.out" "$here/spry.out" ||
            fail "petsc4py: another answer on $ranks ranks"
        cat "$here"/info* | grep -q "spry multiplies by" ||
            fail "petsc4py: spry did not multiply on $ranks ranks"
        rm "$here"/info*
    done
else
    echo "SKIPPED: petsc4py is not installed (make deps-all)"
fi
echo "with and without spry the same"
