#!/bin/sh
# The steps of the image, without a container: makes the folder that the runtime stage copies.
#
# usage: deploy/docker/build.sh FOLDER    in a copy of the repository that may be thrown away: its packages are pruned
set -eu
out=$1
cd "$(dirname "$0")/../.."

# Not `npm ci`: see the Makefile.
[ -d node_modules ] || npm install --no-save --no-audit --no-fund
npm run --silent build
npm prune --omit=dev --no-save --no-audit --no-fund
rm -rf node_modules/.cache

# The files of the package (package.json, "files"), and the packages that they need.
mkdir -p "$out"
archive=$(npm pack --silent --ignore-scripts --pack-destination "$out")
tar -xzf "$out/$archive" -C "$out" --strip-components=1
rm "$out/$archive"
mv node_modules "$out/node_modules"

# The sources of SQLite and what their compilation left: only the compiled module is loaded.
cd "$out/node_modules/better-sqlite3"
mv build/Release/better_sqlite3.node .
rm -rf build deps src
mkdir -p build/Release
mv better_sqlite3.node build/Release/
