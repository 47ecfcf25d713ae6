#!/usr/bin/env bash
# SheetJS (npm package xlsx 0.18.5) reads a date cell of a workbook 16 seconds early in Nairobi.
#
# Expected: the cell 24-11-2026 17:16:40 becomes a Date that prints 17:16:40 in the local zone.
# Seen with Node 20.20 and 24.21, `cellDates: true`:
#   TZ=UTC               17:16:40
#   TZ=America/New_York  17:16:40
#   TZ=Africa/Nairobi    17:16:24
# Before 1908 Nairobi's local time was 2:27:16 ahead of UTC, no whole number of minutes. The seconds
# of that offset are what is missing. The serial number in the file (46350.7199…) is right, and so is
# the formatted text of the cell (`w`). exceljs 4.4.0 writes the file, and reads it right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error xlsx@0.18.5 exceljs@4.4.0 >/dev/null
cat >read.mjs <<'JS'
import ExcelJS from "exceljs";
import XLSX from "xlsx";

const book = new ExcelJS.Workbook();
const sheet = book.addWorksheet("statement");
sheet.addRow([new Date(Date.UTC(2026, 10, 24, 17, 16, 40))]);
sheet.getCell("A1").numFmt = "dd-mm-yyyy hh:mm:ss";
const cell = XLSX.read(await book.xlsx.writeBuffer(), { cellDates: true }).Sheets.statement.A1;
console.log(cell.v.toTimeString().slice(0, 8));
JS
seen=$(for zone in UTC America/New_York Africa/Nairobi; do echo "$zone $(TZ=$zone node read.mjs)"; done)
echo "$seen"
[ "$seen" = "UTC 17:16:40
America/New_York 17:16:40
Africa/Nairobi 17:16:24" ]
