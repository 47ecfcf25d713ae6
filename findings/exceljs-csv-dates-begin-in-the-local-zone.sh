#!/usr/bin/env bash
# exceljs 4.4.0 reads one column of a CSV as three types, and a date of it on another day in UTC.
#
# Expected: the values of a column are read alike, and 2026-11-24 is the same instant as the same
# date cell of an .xlsx file, which exceljs reads as midnight in UTC in every zone.
# Seen with Node 20.20 and 24.21, TZ=Africa/Nairobi, the default options of `csv.read`:
#   2026-11-24            Date 2026-11-23T21:00:00.000Z   midnight in the local zone
#   2026-11-24 17:00:00   text                            not in the list of formats
#   30.0                  number 30
#   "1,053.00"            text                            an amount above 999 is no number
# A sum over the column of amounts leaves out those above 999, and a day compared in UTC is a day early.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error exceljs@4.4.0 >/dev/null
cat >read.mjs <<'JS'
import { Readable } from "node:stream";

import ExcelJS from "exceljs";

const values = ["2026-11-24", "2026-11-24 17:00:00", "30.0", '"1,053.00"'];
const sheet = await new ExcelJS.Workbook().csv.read(Readable.from([values.join("\n")]));
sheet.eachRow((row) => {
  const value = row.getCell(1).value;
  console.log(value instanceof Date ? `Date ${value.toISOString()}` : `${typeof value} ${value}`);
});
JS
seen=$(TZ=Africa/Nairobi node read.mjs)
echo "$seen"
[ "$seen" = "Date 2026-11-23T21:00:00.000Z
string 2026-11-24 17:00:00
number 30
string 1,053.00" ]
