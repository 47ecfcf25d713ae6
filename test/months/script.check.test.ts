import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { forgeries, KEY, MONTH, signed, writePack } from "./given-pack.js";

describe("the script that checks a pack with Node alone", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "kesc-pack-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  async function run(texts: ReturnType<typeof signed>): Promise<{ status: number | null; said: string }> {
    const path = join(folder, "pack.zip");
    await writePack(path, texts);
    const { status, stdout, stderr } = spawnSync(process.execPath, ["examples/verify/month.mjs", path, KEY], {
      encoding: "utf8",
    });
    return { status, said: stdout + stderr };
  }

  it("says yes to what the service has made", async () => {
    const { status, said } = await run(signed(MONTH));
    expect(status, said).to.equal(0);
    expect(said).to.include("YES: 2026-10 of org_01jd2r6p5vf8ksw3xhb1z7q4ye, rows 3 to 4");
  });

  for (const [what, texts, , said] of forgeries()) {
    it(`says no to ${what}`, async () => {
      const result = await run(texts());
      expect(result.status).to.equal(1);
      expect(result.said).to.equal(`NO: ${said}\n`);
    });
  }
});
