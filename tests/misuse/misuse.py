#!/usr/bin/env python3
"""misuse.py - every public function, called with every bad argument.

Reads the prototypes of include/spry/*.h and writes the C of the calls: each
pointer NULL in turn, each count and index -1, each enum out of its range, each
options struct with a size that is none. `allowed.txt` lists the parameters of
which a header says that NULL, or any number, is fine; a function that is new
is called without any further word.

    misuse.py INCLUDE_DIR ALLOWED > calls.c
"""
import glob
import re
import sys

PROTOTYPE = re.compile(
    r"^((?:const )?[a-z_0-9]+ \**)(spry_[a-z0-9_]+)\(([^;{]*)\);", re.M)
PARAMETER = re.compile(r"^(.*?)([A-Za-z_0-9]+)(\[[^\]]*\])?$")
ENUM = re.compile(r"typedef enum \{\s*(\w+)[^}]*\} (\w+);")
CALLBACK = re.compile(r"^typedef .*?\b(spry_\w+)\(.*", re.M)
INTEGERS = ("int", "int64_t")


def parameters(text):
    """[(type, name)] of a parameter list; an array is a pointer."""
    out = []
    for one in re.sub(r"\s+", " ", text).split(","):
        if one.strip() == "void":
            continue
        kind, name, array = PARAMETER.match(one.strip()).groups()
        out.append((kind.strip() + (" *" if array else ""), name))
    return out


class Headers:
    """What the public headers declare."""

    def __init__(self, folder):
        self.functions, self.enums, self.callbacks = [], {}, set()
        for path in sorted(glob.glob(folder + "/spry/*.h")):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            for first, name in ENUM.findall(text):
                self.enums[name] = first
            self.callbacks.update(CALLBACK.findall(text))
            for result, name, rest in PROTOTYPE.findall(text):
                self.functions.append((result.strip(), name, parameters(rest)))


def is_options(kind):
    return kind.endswith("_options *")


def is_callback(headers, kind):
    return kind.rstrip(" *") in headers.callbacks


def usual(headers, kind, place):
    """A value that is not refused by itself."""
    if is_callback(headers, kind):
        return f"({kind})visited"
    if is_options(kind):
        return "NULL"
    if kind.endswith("*"):
        return f"sample({place})"
    return headers.enums.get(kind, "1")


def bad(headers, kind):
    """[(value, what it is)] that must be refused."""
    if is_options(kind):
        return [("sized(0)", "of size 0"), ("sized(1)", "of size 13"),
                ("sized(2)", "of size 1e9")]
    if kind.endswith("*"):
        return [("NULL", "NULL")]
    if kind in INTEGERS:
        return [("-1", "-1")]
    if kind in headers.enums:
        return [(f"({kind})99", "99")]
    return []


def calls(headers, allowed):
    """(result, function, arguments, sentence) of every call."""
    for result, name, params in headers.functions:
        given = [usual(headers, kind, i) for i, (kind, _) in enumerate(params)]
        for i, (kind, param) in enumerate(params):
            if f"{name}.{param}" in allowed:
                continue
            for value, what in bad(headers, kind):
                arguments = given[:i] + [value] + given[i + 1:]
                yield result, name, params, arguments, f"{param} {what}"


def write(headers, allowed):
    rows = []
    print("/* Made by misuse.py from the public headers. */")
    print('#include "misuse.h"\n')
    for n, (result, name, params, arguments, what) in enumerate(
            calls(headers, allowed)):
        text = f"{name}({', '.join(arguments)})"
        body = f"(void){text};"
        if result == "const char *":
            body = f"look_at({text});"
        if result == "spry_status":
            body = f"*status = (int){text};"
        print(f"static void call_{n}(int *status)\n{{\n    (void)status;\n"
              f"    {body}\n}}\n")
        new = int(result == "spry_status" and params[0][0].endswith("**")
                  and arguments[0] != "NULL"
                  and not params[0][0].startswith("const"))
        rows.append(f'    {{"{name}", "{what}", call_{n}, '
                    f'{int(result == "spry_status")}, {new}}},')
    print("const misuse misuses[] = {")
    print("\n".join(rows))
    print("    {0}};")


def main():
    headers = Headers(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        words = (line.split("#")[0].split() for line in file)
        allowed = {word for line in words for word in line}
    known = {f"{name}.{param}" for _, name, params in headers.functions
             for _, param in params}
    if allowed - known:
        sys.exit(f"allowed.txt: no such parameter: {sorted(allowed - known)}")
    write(headers, allowed)


main()
