#!/bin/sh
# The steps of the image, without a container: makes the folder that the runtime stage copies.
#
# usage: deploy/docker/build.sh FOLDER
set -eu
out=$1
cd "$(dirname "$0")/../.."

# Not `npm ci`: see the Makefile.
[ -d node_modules ] || npm install --omit=dev --no-save --no-audit --no-fund
npm run --silent build

mkdir -p "$out"
cp -R dist/packages/kesc/. "$out/"

# What `npm install` of the package would add, of this platform alone.
sqlite=node_modules/better-sqlite3
native=$(node -p "require('./$sqlite/lib/binding.js').getPrebuildPath()")
mkdir -p "$out/$sqlite/prebuilds"
cp -R $sqlite/package.json $sqlite/LICENSE $sqlite/lib "$out/$sqlite/"
cp "$native" "$out/$sqlite/prebuilds/"
