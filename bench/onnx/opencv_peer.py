"""OpenCV's dnn: opencv_peer.py MODEL.onnx THREADS. Prints a line of JSON when
ready, then runs once for each line."""

import json
import sys
import time

import cv2
import numpy

if "bert" in sys.argv[1]:
    sys.exit("its importer knows no such network")
cv2.setNumThreads(int(sys.argv[2]))
net = cv2.dnn.readNetFromONNX(sys.argv[1])
size = 299 if "inception" in sys.argv[1] else 224
x = numpy.random.rand(1, 3, size, size).astype("f4")
net.setInput(x)
net.forward()
print(json.dumps({"version": cv2.__version__}), flush=True)
for _ in sys.stdin:
    begun = time.perf_counter()
    net.setInput(x)
    net.forward()
    print(time.perf_counter() - begun, flush=True)
