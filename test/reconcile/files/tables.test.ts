import { deflateRawSync } from "node:zlib";

import { expect } from "chai";

import { MAIN, sheetXml, workbook } from "../../../bench/fairness/workbook.js";
import { STATEMENT } from "../../../src/rails/mpesa/reconciliation/statement.js";
import { recordsIn } from "../../../src/reconcile/files/tables.js";
import { readStatement, type StatementFacts } from "../../../src/reconcile/statement-movements.js";
import { zipOf } from "../../support/zip.js";

function read(bytes: Buffer): Promise<StatementFacts> {
  return readStatement({ name: "", format: STATEMENT, numbers: [], records: () => recordsIn(bytes, STATEMENT) });
}

async function problemOf(bytes: Buffer): Promise<string> {
  try {
    await read(bytes);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const HEADER = ["Receipt No", "Completion Time", "Details", "Transaction Status", "Paid In (KSHs)", "Withdrawn (KSHs)"];

const DAY_SECONDS = 86_400;

/** The number by which a sheet has a time of 24 November 2026. */
function serial(hour: number, minute: number, second: number): { serial: number } {
  const days = (Date.UTC(2026, 10, 24) - Date.UTC(1899, 11, 30)) / (DAY_SECONDS * 1_000);
  return { serial: days + (hour * 3_600 + minute * 60 + second) / DAY_SECONDS };
}

const PAY_IN = "Pay Bill from 25470****149 - JOHN EXAMPLE";
const EXPECTED = [
  ["UKOQDM7W01", Date.parse("2026-11-24T17:16:40+03:00"), 150_055],
  ["UKOQDM7W02", Date.parse("2026-11-24T17:16:40+03:00"), 105_300],
];

function found({ rows }: StatementFacts): readonly unknown[] {
  return rows.map(({ receipt, completedAt, amountCents }) => [receipt, completedAt, amountCents]);
}

describe("the file of a statement", () => {
  it("may be a workbook, whose times and amounts are texts or numbers", async () => {
    const sheet = sheetXml([
      ["Short Code", 600_996],
      HEADER,
      ["UKOQDM7W01", serial(17, 16, 40), PAY_IN, "Completed", 1_500.55, ""],
      ["UKOQDM7W02", "24-11-2026 17:16:40", PAY_IN, "Completed", "1,053.00", 0],
    ]);
    expect(found(await read(workbook([sheet])))).to.deep.equal(EXPECTED);
    expect(found(await read(workbook([sheetXml([["Notes"]]), sheet])))).to.deep.equal(EXPECTED);
  });

  it("has each second of a day as the sheet shows it, in every time zone", async () => {
    const zone = process.env["TZ"];
    try {
      for (const each of ["UTC", "Africa/Nairobi", "America/New_York"]) {
        process.env["TZ"] = each;
        const seconds = Array.from({ length: 200 }, (_, index) => (index * 433) % DAY_SECONDS);
        const rows = seconds.map((second, index) => [
          `UKOQDM7${String(100 + index)}`,
          serial(0, 0, second),
          PAY_IN,
          "Completed",
          1,
          "",
        ]);
        const { rows: moved } = await read(workbook([sheetXml([HEADER, ...rows])]));
        const begin = Date.parse("2026-11-24T00:00:00+03:00");
        expect(
          moved.map(({ completedAt }) => (completedAt - begin) / 1_000),
          each,
        ).to.deep.equal(seconds);
      }
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });

  it("may be HTML, though it is called .xls", async () => {
    const row = (cells: readonly string[]): string =>
      `<TR>${cells.map((cell) => `<td class='x'>${cell}</td>`).join("")}`;
    const html = [
      "\uFEFF<html><body><table><tr><td>Short Code:</td><td>600996</td></tr></table><table>",
      row(HEADER.map((name) => `<b>${name}</b>`)),
      row(["UKOQDM7W01", "24-11-2026<br>17:16:40", "Pay Bill&nbsp;from A &amp; B", "Completed", "1,500.55", "&#160;"]),
      row(["UKOQDM7W02", "24/11/2026 17:16:40", PAY_IN, "Completed", "1,053.00", "0.00"]),
      "</table></body></html>",
    ].join("\n");
    expect(found(await read(Buffer.from(html)))).to.deep.equal(EXPECTED);
  });

  it("refuses an old workbook, UTF-16, and what is damaged, and says what to do", async () => {
    expect(await problemOf(Buffer.from("d0cf11e0a1b11ae1", "hex"))).to.match(/\(\.xls\).* save it as \.xlsx\.$/);
    expect(await problemOf(Buffer.from("\uFEFFReceipt No.", "utf16le"))).to.equal(
      "It is text in UTF-16. Save it as CSV in UTF-8.",
    );
    const whole = workbook([sheetXml([HEADER])]);
    expect(await problemOf(whole.subarray(0, 200))).to.match(/^It is a damaged workbook/);
    expect(await problemOf(workbook(["<worksheet"]))).to.match(/^It is no (workbook|statement)/);
  });

  it("bounds what a workbook unpacks to, before it is unpacked", async () => {
    const bomb = zipOf("xl/worksheets/sheet1.xml", deflateRawSync(Buffer.alloc(130 * 1_024 * 1_024, " ")));
    expect(bomb.length).to.be.below(1_024 * 1_024);
    const before = process.memoryUsage().rss;
    expect(await problemOf(bomb)).to.equal("It is a workbook with more than 134217728 bytes.");
    expect(process.memoryUsage().rss - before).to.be.below(600 * 1_024 * 1_024);
    const cells = (xml: string): Buffer =>
      workbook([`<worksheet xmlns="${MAIN}"><sheetData>${xml}</sheetData></worksheet>`]);
    expect(await problemOf(cells('<row r="1"><c r="XFD1"><v>1</v></c></row>'))).to.match(/more than 100 columns/);
    expect(await problemOf(cells('<row r="1048576"><c r="A1048576"><v>1</v></c></row>'))).to.match(
      /more than 50000 rows/,
    );
    expect(await problemOf(cells(`<row r="1">${"<c/>".repeat(1_000_001)}</row>`))).to.match(/more than 1000000 cells/);
    expect(await problemOf(workbook(Array.from({ length: 21 }, () => sheetXml([HEADER]))))).to.match(
      /more than 20 sheets/,
    );
  });

  it("bounds the rows and the cells of HTML", async () => {
    expect(await problemOf(Buffer.from(`<table>${"<tr>".repeat(50_001)}`))).to.match(/more than 50000 rows/);
    expect(await problemOf(Buffer.from(`<table><tr>${"<td>".repeat(102)}`))).to.match(/row 1 has more than 100 cells/);
  });
});
