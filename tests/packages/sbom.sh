#!/bin/sh
# sbom.sh - the list of parts is of the committed state, or there is none.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
    printf '%s\n' "$*"
    exit 1
}

for command in git python3; do
    command -v "$command" >/dev/null || {
        echo "SKIPPED: there is no $command"
        exit 77
    }
done

tree=$work/around/tree
mkdir -p "$tree/tools"
cp "$top/CMakeLists.txt" "$tree"
cp "$top/tools/sbom.py" "$tree/tools"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE='@1000000000 +0000' \
    GIT_COMMITTER_DATE='@1000000000 +0000'

commit()
{
    git -C "$1" init -q
    git -C "$1" add .
    git -C "$1" -c user.name=a -c user.email=a@example.org commit -q -m a
}

# Not of a repository, or of one around it, or of one without a commit.
refuse()
{
    ! "$tree/tools/sbom.py" --out "$work/sbom" 2>"$work/said" ||
        fail "a list of $1"
    grep -q '^sbom.py: git' "$work/said" || fail "$(cat "$work/said")"
    [ ! -e "$work/sbom" ] || fail "a list of $1 was begun"
}
refuse "what is in no repository"
commit "$work/around"
refuse "another repository"
rm -rf "$work/around/.git"
git -C "$tree" init -q
refuse "no commit"

# Two files, as they were committed, in the year they were.
commit "$tree"
echo changed >>"$tree/CMakeLists.txt"
touch "$tree/new"
"$tree/tools/sbom.py" --out "$work/sbom"
python3 - "$work/sbom" "$top/CMakeLists.txt" <<'END'
import hashlib, json, sys
d = json.load(open(sys.argv[1]))
sums = {f["fileName"]: f["checksums"][1]["checksumValue"] for f in d["files"]}
assert sorted(sums) == ["./CMakeLists.txt", "./tools/sbom.py"], sums
whole = hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
assert sums["./CMakeLists.txt"] == whole, sums
assert d["creationInfo"]["created"] == "2001-09-09T01:46:40Z", d["creationInfo"]
END
"$tree/tools/sbom.py" --out "$work/again"
cmp "$work/sbom" "$work/again" || fail "twice is not the same"

# What is opened when it is there is in the list.
grep -rhoE 'sp_library_file\("SPRY_[A-Z]*", "lib[a-z]*' "$top/src" |
    sed 's/.*"lib//' | while read -r name; do
    grep -qE "\"name\": \"(lib)?$name\"" "$work/sbom" || fail "lib$name is missing"
done
