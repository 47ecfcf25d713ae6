#!/usr/bin/env bash
# bean-query of beancount 2.3.5 (PyPI, and Debian 12) cannot print a position of 1,000,000,000.00.
#
# Expected: BALANCES and sum(position) print each balance, as bean-check takes the same file.
# Seen with Python 3.11:
#   999999999.29   2.3.5 prints it     beanquery 0.2.0 on beancount 3.2.3 prints it
#   1000000000.29  2.3.5 ends with     beanquery 0.2.0 on beancount 3.2.3 prints it
#                  decimal.InvalidOperation
# sum(number) in place of sum(position) prints both. A shilling is small: the reserve of a mid-sized
# issuer passes a billion.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv two
python3 -m venv three
two/bin/pip install --quiet --disable-pip-version-check beancount==2.3.5
three/bin/pip install --quiet --disable-pip-version-check beancount==3.2.3 beanquery==0.2.0
ledger() {
  printf '2026-01-01 open Assets:Reserve KES\n2026-01-01 open Liabilities:Available KES\n'
  printf '2026-11-01 * "mint"\n  Assets:Reserve  %s KES\n  Liabilities:Available  -%s KES\n' "$1" "$1"
}
asked="SELECT sum(position) AS total WHERE account ~ 'Reserve'"
seen=$(for amount in 999999999.29 1000000000.29; do
  ledger "$amount" >book.beancount
  for of in two three; do
    "$of/bin/bean-check" book.beancount
    echo "$of: $("$of/bin/bean-query" book.beancount "$asked" 2>&1 | tail -1 | sed 's/^ *//; s/: \[.*//')"
  done
done)
echo "$seen"
[ "$seen" = "two: 999999999.29 KES
three: 999999999.29 KES
two: decimal.InvalidOperation
three: 1000000000.29 KES" ]
