#!/usr/bin/env bash
# The formats of clear gate, read by others: xmllint, cmark-gfm, the SARIF schema with python3-jsonschema, and GitHub's own rules for
# workflow commands. Names that try to break out of each format stay text. The schema is in a package of the npm registry, by version and
# hash, never in the tree; without a network the rest is tested.
# build: plain
. "$(dirname "$0")/lib.sh"
schema=$(npm_package @microsoft/jest-sarif@1.0.0-beta.0 \
    0357ce84f77a21ce620e4e05f583f0d6a341e1717eefe22f891ef197caf617a433424c7972963d2ec1a4dab1318852047016e3a559d29b058606e9004a4890f4)
[ -z "$schema" ] || schema=$schema/lib/schemas/sarif-2.1.0-rtm.5.json
python3 "$ROOT/tests/gate_formats.py" $schema || fail "the lines above"
[ -n "$schema" ] || skip "all but the SARIF schema was tested: the npm registry does not answer"
