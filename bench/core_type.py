"""Which of OpenBLAS's kernels a peer gets."""

import os


def name():
    """By what the CPU has: Debian's release takes new CPUs for a Prescott, and
    what the environment says may be meant for another machine. None: OpenBLAS
    chooses."""
    path = "/proc/cpuinfo"
    flags = open(path).read() if os.path.exists(path) else ""
    return ("SkylakeX" if "avx512f" in flags
            else "Haswell" if "avx2" in flags else None)


def force(env):
    env.pop("OPENBLAS_CORETYPE", None)
    if name():
        env["OPENBLAS_CORETYPE"] = name()
