import { deflateRawSync } from "node:zlib";

import { expect } from "chai";

import { MAIN, sheetXml, workbook } from "../../bench/fairness/workbook.js";
import { readPayoutFile } from "../../src/payouts/read-payout-file.js";
import { zipOf } from "../support/zip-of.js";

const HEADER = ["user_id", "amount"] as const;
const MILLION = 1_000_000;

async function problemOf(file: string | Buffer): Promise<string> {
  return readPayoutFile(Buffer.from(file)).then(
    ({ rows }) => `${String(rows.length)} rows`,
    (error: unknown) => (error as Error).message,
  );
}

function sheet(rows: string): Buffer {
  return workbook([`<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`]);
}

describe("the worst file of payouts", () => {
  const csv = (rows: string): string => `${HEADER.join()}\n${rows}`;
  for (const [what, file, said] of [
    ["has 50,000 rows: they are read", () => csv("x,1\n".repeat(50_000)), "50000 rows"],
    ["has one more", () => csv("x,1\n".repeat(50_001)), "It has more than 50000 rows. Split it."],
    [
      "has 50,000 rows in a workbook: they are read",
      () => workbook([sheetXml([HEADER, ...Array.from({ length: 50_000 }, () => ["x", 1] as const)])]),
      "50000 rows",
    ],
    ["has one cell of megabytes", () => csv(`${"x".repeat(8 * MILLION)},1\n`), /CSV: .*more than 65536 bytes/],
    [
      "has one cell of megabytes in a workbook",
      () => workbook([sheetXml([HEADER, ["x".repeat(MILLION), 1]])]),
      /row 2 has more than 65536 characters/,
    ],
    ["has 100,000 columns", () => csv(`${",".repeat(65_000)}\n`), /CSV: .*more than 100 cells/],
    ["opens a quote that nothing closes", () => csv(`"${"x\n".repeat(4 * MILLION)}`), /CSV: .*more than 65536 bytes/],
    [
      "is a workbook that unpacks to gigabytes",
      () => zipOf("xl/worksheets/sheet1.xml", deflateRawSync(Buffer.alloc(130 * 1_024 * 1_024, " "))),
      /more than 134217728 bytes/,
    ],
    [
      "is a workbook with a million empty rows",
      () => sheet(Array.from({ length: MILLION }, (_, at) => `<row r="${String(at + 1)}"/>`).join("")),
      /more than 50000 rows\. Delete what stands below/,
    ],
    [
      "is a workbook with a million empty rows without numbers",
      () => sheet("<row/>".repeat(MILLION)),
      /more than 50000 rows\. Delete what stands below/,
    ],
    ["is a workbook with a cell that never ends", () => sheet("<c "), /^It is a damaged workbook/],
    [
      "is a workbook with a tag beyond its bound",
      () => sheet(`<c ${"x".repeat(10_000)}>`),
      /^It is a damaged workbook/,
    ],
  ] as const) {
    it(what, async () => {
      const bytes = file();
      const begun = process.cpuUsage();
      const found = await problemOf(bytes);
      if (typeof said === "string") expect(found).to.equal(said);
      else expect(found).to.match(said);
      expect(process.cpuUsage(begun).user / 1_000).to.be.below(5_000);
    });
  }
});
