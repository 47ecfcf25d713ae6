import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { readRows } from "../../../src/cli/import/csv-rows.js";

const ACCOUNT_ID = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";

describe("the rail of a row of an import", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-csv-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** The rail that each row sends, or what is wrong with the row. */
  async function railsOf(lines: readonly string[]): Promise<readonly (string | undefined)[]> {
    const file = join(folder, "file.csv");
    writeFileSync(file, lines.join("\n"));
    const rails: (string | undefined)[] = [];
    for await (const row of readRows(file)) {
      if ("header" in row) continue;
      rails.push(
        row.kind === "good" ? row.request.movement?.value.rail : row.problems.map(({ field }) => field).join(),
      );
    }
    return rails;
  }

  it("is direct if the columns of a receipt are filled in, which are those of the request", async () => {
    const lines = [
      "type,account_id,amount,reference,rail,receipt.source,receipt.number",
      `mint,${ACCOUNT_ID},1.00,a,,mpesa,NLJ7RT61SV`,
      `mint,${ACCOUNT_ID},1.00,b,,,`,
      `mint,${ACCOUNT_ID},1.00,c,,mpesa,`,
      `mint,${ACCOUNT_ID},1.00,d,,,NLJ7RT61SV`,
      `mint,${ACCOUNT_ID},1.00,e,sandbox,mpesa,NLJ7RT61SV`,
    ];
    expect(await railsOf(lines)).to.deep.equal(["direct", "direct", "receipt.number", "receipt.source", "receipt"]);
  });

  it("is direct without a column, so that no file sends prompts to phones by the organization's default rail", async () => {
    const lines = ["type,account_id,amount,reference", `mint,${ACCOUNT_ID},1.00,a`];
    expect(await railsOf(lines)).to.deep.equal(["direct"]);
  });

  it("is that of the column rail, and direct where the cell is empty", async () => {
    const lines = [
      "type,account_id,amount,reference,rail",
      `mint,${ACCOUNT_ID},1.00,a,sandbox`,
      `redeem,${ACCOUNT_ID},1.00,b,`,
      `redeem,${ACCOUNT_ID},1.00,c,No Rail`,
    ];
    expect(await railsOf(lines)).to.deep.equal(["sandbox", "direct", "rail"]);
  });
});
