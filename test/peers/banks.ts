import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { bankNumber } from "../../src/domain/destination.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { TransactionId } from "../../src/domain/values/ids.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { SETTINGS } from "../../src/rails/bank/settings.js";
import { writtenFile } from "../../src/rails/bank/write-file.js";
import { installSchemas, type Python, run } from "./packages.js";

const VALIDATE = `
import sys
from lxml import etree
schema = etree.XMLSchema(etree.parse(sys.argv[1]))
schema.assertValid(etree.parse(sys.argv[2]))
`;
const LEAST = {
  place: "KCB 1234",
  bankCode: "01",
  branchCode: "100",
  account: "1100998877",
  holder: "Acme & Sons (1990) Ltd.",
  limits: { min: "100.00", max: "20000000.00" },
};
const ALL = { ...LEAST, bic: "KCBLKENX", customerId: "ACME/1-2" };
const PAYMENTS = 1_000;

/**
 * Writes payment files of 1,000 payments, with as little and as much as the settings have, and lets
 * ISO's own schemas judge them. Throws if one is not valid.
 */
export function validateBankFiles(python: Python): void {
  const schemas = installSchemas(python);
  const file = join(python.folder, "file.xml");
  const payments = Array.from({ length: PAYMENTS }, (_, index) => ({
    transactionId: `txn_01jd2r6p5vf8ksw3xhb1z${String(10_000 + index)}` as TransactionId,
    amountCents: toCents(1_200_000_000 + index),
    number: bankNumber({
      bankCode: "68",
      branchCode: "000",
      account: "1".repeat(34),
      holder: "A & B ".repeat(11) + "Ltd",
    }),
  }));
  const createdAt = toUnixMillis(Date.UTC(2026, 11, 1, 6, 30, 0, 123));
  const given = { id: "KB0123456789ABCDEF01234567", createdAt, day: "2026-12-01" as NairobiDay, payments };
  for (const form of ["pain.001.001.09", "pain.001.001.03"]) {
    for (const settings of [LEAST, ALL]) {
      writeFileSync(file, writtenFile(given, SETTINGS.parse({ ...settings, form })));
      run(python.program, ["-c", VALIDATE, join(schemas, "sepaxml", "schemas", `${form}.xsd`), file], python.folder);
      process.stdout.write(`${form} of ${String(PAYMENTS)} payments is valid by ISO's schema\n`);
    }
  }
}
