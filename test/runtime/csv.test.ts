import { expect } from "chai";
import { parse } from "csv-parse/sync";

import { csvRows, Digits } from "../../runtime/csv.js";

describe("rows of CSV", () => {
  const texts = [
    "=A1",
    "'=A1",
    "''=A1",
    "'",
    "",
    "-5",
    "+1",
    "@x",
    "\tx",
    "\rx",
    "\uFF1Dx",
    "a'b",
    'x, "y"',
    "two\r\nlines",
  ];

  it("begin no cell as a formula, and give each text back without its first apostrophe", () => {
    const [cells = []]: readonly string[][] = parse(csvRows([texts]));
    expect(cells.filter((cell) => /^[=+\-@\t\r\uFF1D]/.test(cell))).to.deep.equal([]);
    expect(new Set(cells).size).to.equal(texts.length);
    expect(cells.map((cell) => cell.replace(/^'/, ""))).to.deep.equal(texts);
  });

  it("keep numbers as they are", () => {
    expect(csvRows([["a", new Digits("-5.00")]])).to.equal("a,-5.00\r\n");
  });
});
