"""written.py - which calls in traces of strace changed something elsewhere.

    written.py FOLDER ALLOWED... -- TRACE...

Traces are those of `strace -ff -y -e trace=%file,...`, one for each thread of
a command that was started in FOLDER. Prints each call that changed a file
outside of the folders and files ALLOWED, or that may use a network, and exits
1 if there is one. A call that is not known to only read is taken for a change.
"""

import os
import re
import sys

READS = re.compile(
    r"(fstatat|newfstatat|statx|l?stat|f?statfs)(64)?$|f?accessat2?$|access$"
    r"|readlink(at)?$|execve(at)?$|getcwd$|l?getxattr$|l?listxattr$"
    r"|name_to_handle_at$|inotify_add_watch$|swapoff$|uselib$")
OPENS = re.compile(r"open(at2?)?$")
CHANGES = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)")
CALL = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|\?)(?:<(.*?)>)?")
# A descriptor with its path, a path in quotes, or both of them.
PLACE = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>(?:, )?)?"((?:[^"\\]|\\.)*)"'
                   r'|\d+<([^>]*)>')


def places(name, arguments, folder):
    """The paths that a call names."""
    found = PLACE.findall(arguments)
    if name.startswith("symlink"):
        found = found[1:]  # what the link says is no place
    for base, path, descriptor in found:
        yield descriptor or os.path.join(base or folder, path)


def resolve(path):
    """Where a path leads, its last part taken as it is."""
    path = os.path.normpath(path)
    if path.startswith("/proc/self"):
        return path  # it was another process's
    parent, last = os.path.split(path)
    return os.path.join(os.path.realpath(parent), last)


def changed(line, folder):
    """The places that a line of a trace changes, a network being one."""
    if line.startswith(("---", "+++")):
        return []
    call = CALL.match(line)
    if not call:
        return ["a call that did not end"]
    name, arguments, result, opened = call.groups()
    if name == "socket":
        return ["the network"] if arguments.startswith("AF_INET") else []
    if name == "connect":
        return ["the network"] if "sa_family=AF_INET" in arguments else []
    if result.startswith("-") or READS.match(name):
        return []
    if name in ("chdir", "fchdir", "chroot"):
        return ["an unknown folder"]
    if OPENS.match(name) and not CHANGES.search(arguments):
        return []
    named = list(places(name, arguments, folder))
    return named + ([opened] if opened else []) or ["an unknown place"]


def is_allowed(path, allowed):
    return any(path == a or path.startswith(a.rstrip("/") + "/")
               for a in allowed)


def main():
    folder, words = sys.argv[1], sys.argv[2:]
    middle = words.index("--")
    allowed = [resolve(a) for a in words[:middle]]
    bad = 0
    for trace in words[middle + 1:]:
        with open(trace, errors="surrogateescape") as lines:
            for line in lines:
                outside = [p for p in changed(line, folder)
                           if not is_allowed(resolve(p) if "/" in p else p,
                                             allowed)]
                if outside:
                    bad = 1
                    print(f"{', '.join(outside)}: {line.strip()}")
    sys.exit(bad)


main()
