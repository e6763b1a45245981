#!/bin/sh
# symbols.sh - debian/libspry0.symbols knows every public function.
#
# What is new is added as of this version; nothing is ever removed, so that
# dpkg-gensymbols notices when a function is gone.
set -eu
cd "${1:-$(dirname "$0")/..}"
file=debian/libspry0.symbols
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
[ -e $file ] || printf '%s\n' "libspry.so.0 libspry0 #MINVER#" \
    "* Build-Depends-Package: libspry-dev" " SPRY_0@SPRY_0 $version" >$file
sed -n '/^\(typedef\|static\|#\)/d
    s/^[a-z].*[ *]\(spry_[a-z0-9_]*\)(.*/\1/p' include/spry/*.h |
    sort -u | while read -r name; do
    grep -q "^ $name@" $file || echo " $name@SPRY_0 $version"
done >$file.new
sort -o $file.new $file.new
cat $file.new >>$file
rm $file.new
