#!/bin/sh
# What spry writes as ONNX is valid by the rules of ONNX itself, which readers
# keep to more narrowly than spry's own does.
# shellcheck source=/dev/null
. "$TOOLS"

python=
for p in python3 /usr/bin/python3; do
    if "$p" -c 'import onnx' 2>/dev/null; then
        python=$p
        break
    fi
done
[ -n "$python" ] || skip "there is no onnx for Python"

cat >valid.py <<'END'
import sys
import onnx

onnx.checker.check_model(sys.argv[1], full_check=True)
END

for net in bert,layers=1,tokens=8 mobilenetv3,size=75 \
    resnet50,size=75,sparsity=0.9 inceptionv3,size=75; do
    expect 0 "$SPRY" net export "net:$net" --out net.onnx
    "$python" valid.py net.onnx || fail "net:$net is written as invalid ONNX"
done
