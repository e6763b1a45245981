#!/bin/sh
# postgres.sh - a PostgreSQL server of one's own, for tests and benchmarks: in
# a folder, on a socket there, gone with it.
#
#   tools/postgres.sh start FOLDER [SETTING=VALUE...]  make and start; its URI
#   tools/postgres.sh again FOLDER                     start what was ended
#   tools/postgres.sh kill FOLDER                      end it as a power cut
#   tools/postgres.sh stop FOLDER                      end it and remove it
#
# Exit 77 where PostgreSQL is not installed. It does not run as root: there it
# runs as postgres, or as nobody.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 start|again|kill|stop FOLDER" >&2; exit 2; }
action=$1
folder=$2
shift 2

for bin in /usr/lib/postgresql/*/bin; do
    PATH=$PATH:$bin
done
export PATH LC_ALL=C
for program in initdb pg_ctl psql setpriv; do
    command -v $program >/dev/null || {
        echo "PostgreSQL is not installed: no $program (make deps-all)"
        exit 77
    }
done

owner=$(id -un)
[ "$(id -u)" -ne 0 ] || owner=$(id -un postgres 2>/dev/null || echo nobody)

# As who may run a server.
as()
{
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && setpriv --reuid "$owner" --regid "$(id -g "$owner")" \
            --clear-groups "$@")
    else
        "$@"
    fi
}

# After a kill its children need a moment to notice.
start()
{
    tries=0
    until as pg_ctl -D "$folder/data" -l "$folder/data/log" -w -t 30 \
        start >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 40 ] || { cat "$folder/data/log" >&2; exit 1; }
        sleep 0.1
    done
}

case $action in
start)
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd)
    [ "$(id -u)" -ne 0 ] || chown "$owner" "$folder"
    chmod 755 "$folder"
    as initdb -D "$folder/data" -A trust -U spry -E UTF8 --no-sync \
        --locale=C >/dev/null
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$folder'"
        echo "shared_buffers = 32MB"
        for setting; do
            echo "$setting" | sed 's/=/ = /'
        done
    } | as tee -a "$folder/data/postgresql.conf" >/dev/null
    start
    host=$(printf %s "$folder" | sed 's|/|%2F|g')
    echo "postgresql://spry@$host/postgres"
    ;;
again) start ;;
kill) as kill -9 "$(head -1 "$folder/data/postmaster.pid")" ;;
stop)
    as pg_ctl -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$folder"
    ;;
esac
