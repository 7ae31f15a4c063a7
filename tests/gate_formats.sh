#!/usr/bin/env bash
# The formats of clear gate, read by others: xmllint, cmark-gfm, the SARIF schema with python3-jsonschema, and GitHub's own rules for
# workflow commands. Names that try to break out of each format stay text. The schema is in a package of the npm registry, by version and
# hash, never in the tree; without a network the rest is tested.
. "$(dirname "$0")/lib.sh"
PACKAGE=@microsoft/jest-sarif@1.0.0-beta.0
SHA512=0357ce84f77a21ce620e4e05f583f0d6a341e1717eefe22f891ef197caf617a433424c7972963d2ec1a4dab1318852047016e3a559d29b058606e9004a4890f4
URL=https://registry.npmjs.org/@microsoft/jest-sarif/-/jest-sarif-1.0.0-beta.0.tgz

# Kept with the build, so that the suite asks the registry once.
schema=$BUILD/sarif/sarif-2.1.0-rtm.5.json
fetch_schema() {
    mkdir -p "$BUILD/sarif" || return
    if command -v npm >/dev/null; then
        HOME=$TMP timeout 60 npm pack --silent "$PACKAGE" >/dev/null 2>&1 && mv ./*.tgz schema.tgz
    else
        curl --silent --fail --max-time 60 -o schema.tgz "$URL"
    fi
    [ -s schema.tgz ] || return
    echo "$SHA512  schema.tgz" | sha512sum -c --quiet - || fail "$PACKAGE is another file than it was"
    tar -xzf schema.tgz --strip-components=3 package/lib/schemas/sarif-2.1.0-rtm.5.json && mv sarif-2.1.0-rtm.5.json "$schema.$$" && mv "$schema.$$" "$schema"
}
[ -s "$schema" ] || fetch_schema
python3 "$ROOT/tests/gate_formats.py" $([ ! -s "$schema" ] || echo "$schema") || fail "the lines above"
[ -s "$schema" ] || skip "all but the SARIF schema was tested: the npm registry does not answer"
