#!/bin/sh
# tiers.sh - every public function stands under a tier: simple, advanced or
# experimental, as include/spry.h explains them. Prints how many there are of
# each; fails when one stands under none.
set -eu
cd "${1:-$(dirname "$0")/..}"
# shellcheck disable=SC2016  # the single quotes hold awk, not shell
awk '
FNR == 1 { tier = "" }
/^\/\* ==== .* ==== \*\/$/ {
    tier = $3
    if (tier !~ /^(simple|advanced|experimental)$/) {
        print FILENAME ":" FNR ": " tier " is no tier"
        bad = 1
    }
}
/^[a-z]/ && !/^(typedef|static|extern|struct|enum)/ && /spry_[a-z0-9_]+\(/ {
    all++
    count[tier]++
    if (tier == "") {
        print FILENAME ":" FNR ": no tier above " $0
        bad = 1
    }
}
END {
    printf "%d public functions: %d simple, %d advanced, %d experimental\n",
        all, count["simple"], count["advanced"], count["experimental"]
    exit bad
}' include/spry/*.h
