#!/usr/bin/env python3
"""sbom.py - what spry is made of and what it needs, as SPDX 2.3 JSON.

    tools/sbom.py [--out FILE]

The files of the committed state with their SHA-256, the libraries it is linked
with and those it opens when they are there. The same commit gives the same
bytes; versions of libraries are those of this machine (pkg-config), where they
are known.
"""

import argparse
import datetime
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

# name, pkg-config's name, licence, how it is used
LIBRARIES = [
    ("sqlite3", "sqlite3", "blessing", "DYNAMIC_LINK"),
    ("hwloc", "hwloc", "BSD-3-Clause", "DYNAMIC_LINK"),
    ("zlib", "zlib", "Zlib", "DYNAMIC_LINK"),
    ("libgomp", None, "GPL-3.0-or-later WITH GCC-exception-3.1",
     "DYNAMIC_LINK"),
    ("openblas", "openblas", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF"),
    ("xgboost", "xgboost", "Apache-2.0", "OPTIONAL_DEPENDENCY_OF"),
    ("arpack", "arpack", "BSD-3-Clause", "OPTIONAL_DEPENDENCY_OF"),
    ("libpq", "libpq", "PostgreSQL", "OPTIONAL_DEPENDENCY_OF"),
    ("petsc", "PETSc", "BSD-2-Clause", "OPTIONAL_DEPENDENCY_OF"),
    ("cmocka", "cmocka", "Apache-2.0", "TEST_DEPENDENCY_OF"),
    ("cmake", None, "BSD-3-Clause", "BUILD_DEPENDENCY_OF"),
]


def version_here(pkg_config):
    """The version of a library that pkg-config knows, or NOASSERTION."""
    try:
        said = subprocess.run(("pkg-config", "--modversion", pkg_config),
                              capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "NOASSERTION"
    return said.stdout.strip() or "NOASSERTION"


def git(*words):
    """What git prints of the repository that is here, not of one around it."""
    try:
        return subprocess.run(("git", "--git-dir", TOP / ".git", *words),
                              cwd=TOP, capture_output=True, check=True).stdout
    except OSError as e:
        sys.exit(f"sbom.py: git: {e.strerror}")
    except subprocess.CalledProcessError as e:
        said = e.stderr.decode(errors="replace").strip()
        sys.exit(f"sbom.py: git {words[0]} failed: {said}")


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def library(name, pkg_config, licence):
    return {
        "SPDXID": identifier(name),
        "name": name,
        "versionInfo":
            version_here(pkg_config) if pkg_config else "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }


def files():
    """Name and bytes of every committed file."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD"))) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}


def entries(contents):
    for name, data in sorted(contents.items()):
        yield {
            "SPDXID": identifier("file-" + name),
            "fileName": "./" + name,
            "checksums": [
                {"algorithm": "SHA1",
                 "checksumValue": hashlib.sha1(data).hexdigest()},
                {"algorithm": "SHA256",
                 "checksumValue": hashlib.sha256(data).hexdigest()},
            ],
            "licenseConcluded": "Apache-2.0",
            "licenseInfoInFiles": ["NOASSERTION"],
            "copyrightText": "NOASSERTION",
        }


def document():
    contents = files()
    text = contents["CMakeLists.txt"].decode()
    version = re.search(r"project\(spry VERSION ([0-9.]+)", text).group(1)
    commit, when = git("log", "-1", "--format=%H %ct").decode().split()
    listed = list(entries(contents))
    sums = "".join(sorted(f["checksums"][0]["checksumValue"] for f in listed))
    spry = {
        "SPDXID": identifier("spry"),
        "name": "spry",
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {
            "packageVerificationCodeValue":
                hashlib.sha1(sums.encode()).hexdigest()},
        "licenseInfoFromFiles": ["NOASSERTION"],
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
    }
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT",
                  "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": spry["SPDXID"]}]
    for name, _, _, how in LIBRARIES:
        pair = [spry["SPDXID"], identifier(name)]
        if how.endswith("_OF"):
            pair.reverse()
        relations.append({"spdxElementId": pair[0], "relationshipType": how,
                          "relatedSpdxElement": pair[1]})
    relations += [{"spdxElementId": spry["SPDXID"],
                   "relationshipType": "CONTAINS",
                   "relatedSpdxElement": f["SPDXID"]} for f in listed]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"spry-{version}",
        "documentNamespace": f"urn:spry:{version}:{commit}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(
                int(when), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: spry-tools-sbom"],
        },
        "packages": [spry] + [library(n, p, lic)
                              for n, p, lic, _ in LIBRARIES],
        "files": listed,
        "relationships": relations,
    }


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--out", default="-", help="a file; - for stdout")
    out = words.parse_args().out
    text = json.dumps(document(), indent=1) + "\n"
    if out == "-":
        sys.stdout.write(text)
    else:
        Path(out).write_text(text)


main()
