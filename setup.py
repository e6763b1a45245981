"""Builds the C library with CMake and puts it into the package, with the
models beside it. SPRY_LIBRARY names a library that is built already; "system"
takes none, for packages that depend on the system's."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:
    bdist_wheel = None

HERE = Path(__file__).resolve().parent


def version():
    text = (HERE / "CMakeLists.txt").read_text()
    return re.search(r"project\(spry VERSION ([0-9.]+)", text).group(1)


def make_library(folder):
    """The path of libspry.so; built below `folder` unless it is named."""
    named = os.environ.get("SPRY_LIBRARY")
    if named:
        return Path(named)
    subprocess.run(
        ["cmake", "-S", HERE, "-B", folder, "-G", "Ninja",
         "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF",
         "-DSPRY_BENCH=OFF"], check=True)
    subprocess.run(
        ["cmake", "--build", folder, "--target", "libspry.so", "-j",
         str(os.cpu_count() or 1)], check=True)
    return folder / "libspry.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if os.environ.get("SPRY_LIBRARY") == "system":
            return
        package = Path(self.build_lib) / "spry"
        library = make_library(HERE / "build" / "wheel")
        shutil.copyfile(library.resolve(), package / "libspry.so")
        subprocess.run(["strip", package / "libspry.so"], check=False)
        shutil.copytree(HERE / "models", package / "models",
                        dirs_exist_ok=True)


class WithLibrary(Distribution):
    """Its place is among what is of one kind of machine."""

    def has_ext_modules(self):
        return os.environ.get("SPRY_LIBRARY") != "system"


commands = {"build_py": BuildWithLibrary}
if bdist_wheel:

    class OneForEveryPython(bdist_wheel):
        """ctypes: any Python 3, but one kind of machine."""

        def get_tag(self):
            return "py3", "none", super().get_tag()[2]

    commands["bdist_wheel"] = OneForEveryPython

setup(version=version(), cmdclass=commands, distclass=WithLibrary)
