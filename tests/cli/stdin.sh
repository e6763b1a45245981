#!/bin/sh
# A matrix may come through a pipe or standard input; a bomb ends at once.
# shellcheck source=/dev/null
. "$TOOLS"
"$SPRY" generate uniform,rows=50,nnz=300 --out a.mtx >/dev/null || fail "generate"
"$SPRY" inspect a.mtx --json >want || fail "file"
"$SPRY" inspect - --json <a.mtx >got || fail "standard input"
[ "$(grep -c '"nnz": 300' got)" = "$(grep -c '"nnz": 300' want)" ] ||
    fail "another matrix"
gzip -c a.mtx | "$SPRY" inspect - --json >got || fail "packed, by a pipe"
mkfifo way
cat a.mtx >way &
"$SPRY" inspect /dev/stdin <way >/dev/null || fail "a named pipe"
wait
expect 3 "$SPRY" inspect - </dev/null
# 6 GB of zeros in 6 MB: refused before much of it is in memory.
head -c 100000000 /dev/zero | gzip -9 >part
for _ in 1 2 3 4 5 6; do cat part part part part part part part part part part
done >bomb.mtx.gz
python3 - "$SPRY" <<'EOF' 2>err || fail "a bomb: $(cat err)"
import resource, subprocess, sys
run = subprocess.run([sys.argv[1], "inspect", "bomb.mtx.gz"],
                     stderr=subprocess.PIPE, text=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
if run.returncode != 3 or "refused as a bomb" not in run.stderr or peak > 400:
    sys.exit(f"exit {run.returncode}, {peak} MB: {run.stderr}")
EOF
