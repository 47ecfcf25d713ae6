#!/usr/bin/env bash
# @hey-api/openapi-ts 0.99.0 allows TypeScript 7 as its peer, and cannot start with it.
#
# Expected: `npm install @hey-api/openapi-ts` in an empty folder gives a program that starts.
# Seen with Node 20.20 and 24.21, npm 11: its peer range is ">=5.5.3 || >=6.0.0 || 6.0.1-rc", so npm installs
# TypeScript 7.0.2, whose package has no API. Each command ends with
#   TypeError: Cannot read properties of undefined (reading 'AnyKeyword')
# With typescript@6.0.3 beside it, it works.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
install() { npm install --no-audit --no-fund --loglevel=error --ignore-scripts "$@" >/dev/null; }
start() { node_modules/.bin/openapi-ts --help 2>&1 | grep -oE -m1 "AnyKeyword|Usage" || true; }
npm init -y >/dev/null
install @hey-api/openapi-ts@0.99.0 typescript@7.0.2
seen="typescript 7: $(start)"
install typescript@6.0.3
seen="$seen, typescript 6: $(start)"
echo "$seen"
[ "$seen" = "typescript 7: AnyKeyword, typescript 6: Usage" ]
