import { expect } from "chai";
import { parse } from "csv-parse/sync";

import { type CsvBounds, CsvReader, type CsvRecord } from "../../runtime/csv-reader.js";
import { Random } from "../attack/random.js";

const BOUNDS: CsvBounds = { recordBytesMax: 1_000, recordCellsMax: 20 };
const MEBIBYTES_4 = 4 * 1_024 * 1_024;

/** Reads a text in pieces of this size. */
function read(text: string | Buffer, pieceBytes = 16_384, bounds = BOUNDS): readonly CsvRecord[] {
  const reader = new CsvReader(bounds);
  const bytes = Buffer.from(text);
  const records: CsvRecord[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    records.push(...reader.read(bytes.subarray(at, at + pieceBytes)));
  return [...records, ...reader.end()];
}

/** What csv-parse reads. */
function expected(text: string): readonly (readonly string[])[] {
  const options = { bom: true, relax_column_count: true, skip_empty_lines: true };
  return parse(text, { ...options, record_delimiter: ["\r\n", "\n", "\r"] });
}

describe("the reader of CSV", () => {
  for (const text of [
    "",
    "\n",
    "a",
    "a,b\n1,2\n",
    "a,b\r\n\r\n1,2",
    "a\rb\r\rc",
    ',\n,,\n""\n',
    '"a, b","two\r\nlines","he said ""yes"""\nnext,"",x',
    '\uFEFF"quoted",ä€😀\n',
    "\uFEFF",
    '"""",""""""\n',
  ]) {
    it(`reads ${JSON.stringify(text)} as csv-parse does, in pieces of any size`, () => {
      for (let size = 1; size <= Buffer.byteLength(text) + 1; size += 1) {
        expect(
          read(text, size).map(({ cells }) => cells),
          String(size),
        ).to.deep.equal(expected(text));
      }
    });
  }

  it("tells the first line and the text of each record", () => {
    const records = read('a,b\r\n\r\n"x\ny",z\n\n\nlast', 3);
    expect(records.map(({ line, raw }) => [line, raw])).to.deep.equal([
      [1, "a,b"],
      [3, '"x\ny",z'],
      [7, "last"],
    ]);
  });

  for (const [name, text, problem] of [
    ["4 MiB of commas", ",".repeat(MEBIBYTES_4), "line 1 has more than 20 cells"],
    ["4 MiB of quotes", '"'.repeat(MEBIBYTES_4), "line 1 begins a record of more than 1000 bytes"],
    ["4 MiB of text", `a\n${"x".repeat(MEBIBYTES_4)}`, "line 2 begins a record of more than 1000 bytes"],
    ["a quote that nothing closes", 'a\nb\n"c\nd', "line 3 opens a quote that nothing closes"],
    [
      "a long record behind an open quote",
      `a\n"b\n${"c\n".repeat(1_000)}`,
      "line 2 begins a record of more than 1000 bytes",
    ],
    ["text behind a closing quote", 'a\n"b"c\n', "line 2 has text behind a closing quote"],
    ["a quote within a cell", 'a\n\nb,c"d\n', "line 3 has a quote in a cell that does not begin with one"],
  ] as const) {
    it(`refuses ${name}, with the line and the bound`, () => {
      for (const size of [7, 16_384]) expect(() => read(text, size), String(size)).to.throw(problem);
    });
  }

  it("keeps no more than one record of the largest size, and passes 4 MiB of empty lines", () => {
    const reader = new CsvReader(BOUNDS);
    const piece = Buffer.from("\n".repeat(16_384));
    for (let bytes = 0; bytes < MEBIBYTES_4; bytes += piece.length) expect(reader.read(piece)).to.deep.equal([]);
    expect(reader.read(Buffer.from("a\n")).map(({ line }) => line)).to.deep.equal([MEBIBYTES_4 + 1]);
    // The bytes of a record are bound while they come, and not only once it has ended.
    expect(() => {
      for (let sent = 0; sent < 3; sent += 1) reader.read(Buffer.from("x".repeat(400)));
    }).to.throw("1000 bytes");
  });

  it("reads random texts as csv-parse does", () => {
    const random = new Random(1);
    const parts = ["a", "é", ",", ",", "\n", "\r\n", "\r", '"', '""', '"x"', '"y\n,"'];
    for (let tries = 0; tries < 2_000; tries += 1) {
      const text = Array.from({ length: random.below(12) }, () => random.pick(parts)).join("");
      const records = (): readonly (readonly string[])[] => read(text, 1 + random.below(5)).map(({ cells }) => cells);
      let right: readonly (readonly string[])[] | undefined;
      try {
        right = expected(text);
      } catch {
        right = undefined;
      }
      if (right === undefined) expect(records, JSON.stringify(text)).to.throw();
      else expect(records(), JSON.stringify(text)).to.deep.equal(right);
    }
  });
});
