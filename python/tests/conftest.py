"""Tests find the package in the tree, keep nothing and use a little time."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
home = tempfile.TemporaryDirectory(prefix="spry-home-")  # until the end
os.environ.setdefault("SPRY_HOME", home.name)
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
