#!/usr/bin/env python3
"""JSON documents of spry and their schemas.

    schema.py check FOLDER FILE...   is every document as its schema says?
    schema.py infer FOLDER FILE...   write the schemas these documents have

A document names its schema, "spry.tune/1"; FOLDER/spry.tune-1.json is it. Only
the words of JSON Schema that these files use are understood.
"""

import json
import sys
from pathlib import Path

KINDS = {bool: "boolean", int: "integer", float: "number", str: "string",
         type(None): "null", list: "array", dict: "object"}


def kinds_of(value):
    """An integer is a number, too."""
    kind = KINDS[type(value)]
    return {kind, "number"} if kind == "integer" else {kind}


def problems(value, schema, where):
    wanted = schema.get("type")
    if wanted is not None:
        wanted = [wanted] if isinstance(wanted, str) else wanted
        if not kinds_of(value) & set(wanted):
            yield f"{where}: {KINDS[type(value)]}, not {' or '.join(wanted)}"
            return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: no {name}"
        known = schema.get("properties", {})
        for name, below in value.items():
            if name in known:
                yield from problems(below, known[name], f"{where}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, below in enumerate(value):
            yield from problems(below, schema["items"], f"{where}[{i}]")


def schema_file(folder, name):
    return Path(folder) / (name.replace("/", "-") + ".json")


def check(folder, files):
    bad = 0
    for file in files:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
        name = document.get("schema", "")
        path = schema_file(folder, name)
        if not path.exists():
            said = [f"there is no schema {name!r}"]
        else:
            schema = json.loads(path.read_text(encoding="utf-8"))
            said = list(problems(document, schema, "$"))
        for line in said:
            print(f"{file}: {line}")
        bad += bool(said)
    print(f"{len(files)} documents, {bad} unlike their schema")
    return bad != 0


def inferred(values):
    kinds = {KINDS[type(v)] for v in values}
    if kinds & {"integer", "number"}:  # what is not finite is written as null
        kinds = kinds - {"integer"} | {"number", "null"}
    kinds = [] if kinds == {"null"} else sorted(kinds)
    out = {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
    objects = [v for v in values if isinstance(v, dict)]
    if objects:
        names = list(dict.fromkeys(n for v in objects for n in v))
        out["properties"] = {
            n: inferred([v[n] for v in objects if n in v]) for n in names}
        out["required"] = [n for n in names if all(n in v for v in objects)]
    items = [x for v in values if isinstance(v, list) for x in v]
    if items:
        out["items"] = inferred(items)
    return out


def infer(folder, files):
    groups = {}
    for file in files:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
        groups.setdefault(document["schema"], []).append(document)
    for name, documents in sorted(groups.items()):
        schema = inferred(documents)
        schema["properties"]["schema"] = {"const": name}
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema",
                  "title": name, **schema}
        schema_file(folder, name).write_text(
            json.dumps(schema, indent=1) + "\n", encoding="utf-8")
    return 0


def main():
    modes = {"check": check, "infer": infer}
    if len(sys.argv) < 3 or sys.argv[1] not in modes:
        print(__doc__.strip())
        return 2
    return modes[sys.argv[1]](sys.argv[2], sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
