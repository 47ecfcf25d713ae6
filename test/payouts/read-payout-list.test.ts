import { deflateRawSync } from "node:zlib";

import { expect } from "chai";

import { sheetXml, workbook } from "../../bench/fairness/workbook.js";
import { LIST_ENTRIES_MAX } from "../../src/domain/payout-list.js";
import { readPayoutList } from "../../src/payouts/read-payout-list.js";
import { newAccountId } from "../support/names.js";
import { zipOf } from "../support/zip-of.js";

const textsOf = async (text: string | Buffer): Promise<readonly string[]> =>
  (await readPayoutList(Buffer.from(text))).map((entry) => entry.text);
async function problemOf(text: string | Buffer): Promise<string> {
  try {
    await textsOf(text);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("the file of a list of payouts that are held", () => {
  it("has the columns kind and value, or a column for each kind", async () => {
    const id = newAccountId();
    const expected = [`account ${id}`, "number +254712345678", "name mary wanjiku"];
    expect(await textsOf(`kind,value\naccount,${id}\nNumber,0712345678\nname,"Wanjiku, Mary"\n`)).to.deep.equal(
      expected,
    );
    expect(await textsOf(`Name;Account;Number\nMary Wanjiku;${id};0712345678\n`)).to.have.members(expected);
    expect(await textsOf("name\nMary\n\nMARY\n")).to.deep.equal(["name mary"]);
  });

  it("may be a workbook", async () => {
    expect(await textsOf(workbook([sheetXml([["name"], ["Mary Wanjiku"]])]))).to.deep.equal(["name mary wanjiku"]);
  });

  it("may have no entry: then nothing is held", async () => {
    expect(await textsOf("kind,value\n")).to.deep.equal([]);
  });

  for (const [what, text, problem] of [
    ["nothing", "", /^It is empty\.$/],
    [
      "another column",
      "kind,value,note\n",
      /^Line 1 has a column that is none of account, number, name, kind, value\./,
    ],
    ["a column twice", "name,name\n", /^Line 1 has a column twice\.$/],
    ["a kind without a value", "kind,name\n", /^Its first line must name the columns/],
    ["an unknown kind", "kind,value\nphone,0712345678\n", /^line 2: kind: must be one of account, number, name\.$/],
    ["no value", "kind,value\nname,\n", /^line 2: value: is required\.$/],
    ["no kind", "kind,value\n,Mary\n", /^line 2: row: has more cells than the header, or no kind\.$/],
    ["a stray cell", "name\nMary,Wanjiku\n", /^line 2: row: has more cells/],
    ["two rows with an error", "number\n0712345678\n12\nx\n", /^line 3: number: must be .*; line 4: number: must be/],
    ["many rows with an error", `number\n${"12\n".repeat(13)}`, /; and 3 more\.$/],
  ] as const) {
    it(`is refused with ${what}, in words that repeat no entry`, async () => {
      expect(await problemOf(text)).to.match(problem);
      expect(await problemOf(text)).to.not.match(/Mary|0712345678/);
    });
  }

  it("is bounded: 10,000 entries of the longest names are read in seconds, one more is refused", async () => {
    const rows = Array.from({ length: LIST_ENTRIES_MAX }, (_, index) => `${"Éñ ".repeat(64)}${String(index)}`);
    const begun = performance.now();
    expect(await textsOf(`name\n${rows.join("\n")}\n`)).to.have.length(LIST_ENTRIES_MAX);
    expect(performance.now() - begun).to.be.lessThan(5_000);
    expect(await problemOf(`name\n${rows.join("\n")}\nMary\n`)).to.equal("It has more than 10000 entries.");
  });

  it("is refused if it is a workbook that unpacks to more than a file may have", async () => {
    const bomb = zipOf("xl/worksheets/sheet1.xml", deflateRawSync(Buffer.alloc(130 * 1_024 * 1_024, " ")));
    expect(await problemOf(bomb)).to.equal("It is a workbook with more than 134217728 bytes.");
  });
});
