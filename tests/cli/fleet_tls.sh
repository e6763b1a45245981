#!/bin/sh
# A server that speaks TLS only: verify-full with its own authority works, and
# every other one is refused with a sentence.
# shellcheck source=/dev/null
. "$TOOLS"
[ -z "${SPRY_EMULATOR:-}" ] || skip "workers are not emulated"
command -v openssl >/dev/null || skip "there is no openssl"
export SPRY_PROBE=quick PGCONNECT_TIMEOUT=20
server=$(dirname "$TOOLS")/../../tools/postgres.sh
folder=$(mktemp -d "${TMPDIR:-/tmp}/spry-tls.XXXXXX")
trap '"$server" stop "$folder"' EXIT

# authority NAME: a certificate that signs others.
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.crt" >log 2>&1 || fail "$(cat log)"
}
authority ours
authority another
openssl req -newkey rsa:2048 -nodes -subj /CN=localhost \
    -keyout "$folder/server.key" -out server.csr >log 2>&1 || fail "$(cat log)"
echo 'subjectAltName = DNS:localhost' >names
openssl x509 -req -in server.csr -CA ours.crt -CAkey ours.key -CAcreateserial \
    -days 2 -extfile names -out "$folder/server.crt" >log 2>&1 ||
    fail "$(cat log)"
# The server runs as somebody else where we are root; its key is its own.
chmod 600 "$folder/server.key"
owner=$(id -un postgres 2>/dev/null || echo nobody)
[ "$(id -u)" != 0 ] || chown "$owner" "$folder/server.key"

port=$(python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
socket=$("$server" start "$folder" fsync=off "port=$port" \
    "listen_addresses='localhost'" ssl=on \
    "ssl_cert_file='$folder/server.crt'" \
    "ssl_key_file='$folder/server.key'") || skip "$socket"
cat >"$folder/data/pg_hba.conf" <<'END'
local all all trust
hostssl all worker all scram-sha-256
hostssl all all all trust
END
psql -XAtq "$socket?port=$port" -c "SELECT pg_reload_conf()" \
    -c "SET password_encryption = 'scram-sha-256'" \
    -c "CREATE ROLE worker LOGIN PASSWORD 'hunter2'" >log 2>&1 ||
    fail "$(cat log)"
uri="postgresql://spry@localhost:$port/postgres"
full="sslmode=verify-full&sslrootcert=$PWD"

# ---- refused ----
for bad in "sslmode=disable:encryption" \
    "$full/another.crt:certificate verify failed" \
    "$full/nowhere.crt:does not exist"; do
    refuse 8 "${bad#*:}" "$SPRY" fleet init --store "$uri?${bad%%:*}"
done
refuse 8 'does not match host name' "$SPRY" fleet init --store \
    "postgresql://spry@127.0.0.1:$port/postgres?$full/ours.crt"

# ---- taken ----
expect 0 "$SPRY" fleet init --store "$uri?$full/ours.crt"
psql -XAtq "$socket?port=$port" -c "GRANT spry_worker TO worker"
expect 0 "$SPRY" fleet submit gen:arrow,rows=77 --kind survey --ops spmv \
    --store "$uri?$full/ours.crt"
expect 0 "$SPRY" fleet status --store "$uri?$full/ours.crt" --json
holds "d['ready'] == 1"

# ---- and with a password, which is nowhere to be read ----
expect 0 "$SPRY" probe --threads 1 --write here.machine
worker="postgresql://worker@localhost:$port/postgres?$full/ours.crt"
refuse 8 'password' "$SPRY" fleet work --idle-exit --machine here.machine \
    --store "$worker"
expect 8 env PGPASSWORD=hunter3 "$SPRY" fleet work --idle-exit \
    --machine here.machine --store "$worker"
has 'password authentication failed' err
grep -q hunter out err && fail "a password is told: $(cat err)"
expect 0 env PGPASSWORD=hunter2 "$SPRY" fleet work --idle-exit \
    --machine here.machine --store "$worker" --json
holds "d['done'] == 1"
expect 0 "$SPRY" records check --store "$uri?$full/ours.crt"
exit 0
