#!/usr/bin/env bash
# mt940js (npm 1.3.5) puts the entry date of a line a year early where its value date is in December.
#
# Field 61 has a value date of six digits (261231) and an entry date of four (0102). The year of the
# entry date is not written: it is the one nearest to the value date.
# Expected: an entry on 2 January 2027 of a payment with the value of 31 December 2026.
# Seen with Node 20.20 and 24.21:
#   value 2026-12-31  entry 2026-01-02
# The other direction is a year late: value 2027-01-02 with entry date 1231 is entry 2027-12-31. PyPI's
# mt-940 5.1.1 has the right years.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error mt940js@1.3.5 >/dev/null
cat >statement.sta <<'STA'
:20:STATEMENT1
:25:1234567890
:28C:1/1
:60F:C261231KES1000,
:61:2612310102C100,NTRFINVOICE1//BANK1
:86:paid in
:61:2701021231C40,NTRFINVOICE2//BANK2
:86:paid in
:62F:C270102KES1140,
-
STA
cat >read.cjs <<'JS'
const { Parser } = require("mt940js");
const day = (date) => date.toISOString().slice(0, 10);
const [statement] = new Parser().parse(require("node:fs").readFileSync("statement.sta", "utf8"));
for (const { date, entryDate } of statement.transactions) console.log(`value ${day(date)} entry ${day(entryDate)}`);
JS
seen=$(TZ=UTC node read.cjs)
echo "$seen"
[ "$seen" = "value 2026-12-31 entry 2026-01-02
value 2027-01-02 entry 2027-12-31" ]
