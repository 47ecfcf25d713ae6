#!/bin/sh
# The steps of the image, without a container: makes the folder that the runtime stage copies.
#
# usage: deploy/docker/build.sh FOLDER
set -eu
out=$1
cd "$(dirname "$0")/../.."

# Not `npm ci`: see the Makefile.
[ -d node_modules ] || npm install --no-save --no-audit --no-fund
npm run --silent build

# The files of the package (package.json, "files").
mkdir -p "$out"
archive=$(npm pack --silent --ignore-scripts --pack-destination "$out")
tar -xzf "$out/$archive" -C "$out" --strip-components=1
rm "$out/$archive"

# The bundle holds all packages but this one, which has a native module for each platform.
sqlite=node_modules/better-sqlite3
native=$(node -p "require('./$sqlite/lib/binding.js').getPrebuildPath()")
mkdir -p "$out/$sqlite/prebuilds"
cp -R $sqlite/package.json $sqlite/LICENSE $sqlite/lib "$out/$sqlite/"
cp "$native" "$out/$sqlite/prebuilds/"
