#!/usr/bin/env bash
# mt-940 (PyPI 5.1.1) reads a reversed credit (RC) of a bank's MT940 statement as money that came in.
#
# Expected: RC takes a credit back, so its amount is below zero: 1,000 + 100 - 40 = 1,060, which is the
# closing balance of the statement.
# Seen with Python 3.11:
#   C   100 KES
#   RC  40 KES
#   the sum of the lines 140, and of the balances 60
# Debits (D) do get their sign.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check mt-940==5.1.1
cat >statement.sta <<'STA'
:20:STATEMENT1
:25:1234567890
:28C:1/1
:60F:C261126KES1000,
:61:2611271127C100,NTRFINVOICE1//BANK1
:86:paid in
:61:2611271127RC40,NTRFINVOICE2//BANK2
:86:a credit of yesterday, taken back
:62F:C261127KES1060,
-
STA
cat >read.py <<'PY'
import mt940

read = mt940.parse(open("statement.sta").read())
for line in read:
    print(line.data["status"], line.data["amount"])
lines = sum(line.data["amount"].amount for line in read)
balances = read.data["final_closing_balance"].amount.amount - read.data["final_opening_balance"].amount.amount
print(f"lines {lines}, balances {balances}")
PY
seen=$(python/bin/python read.py)
echo "$seen"
[ "$seen" = "C 100 KES
RC 40 KES
lines 140, balances 60" ]
