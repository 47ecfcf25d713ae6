import { expect } from "chai";

import { ownActsSql } from "../../../src/storage/operators/own-acts.js";
import { ENGINES, execute, openTestDatabase } from "../../support/databases.js";

const EXPLAIN = { sqlite: "EXPLAIN QUERY PLAN", postgres: "EXPLAIN" };

for (const engine of ENGINES) {
  it(`the acts on an organization are read along their index (${engine})`, async () => {
    const opened = await openTestDatabase(engine);
    try {
      const bindings = ["'org_x'", "9", "10"];
      const sql = ownActsSql(opened.cell.engine).replaceAll("?", () => bindings.shift() ?? "");
      const settings = engine === "postgres" ? ["SET enable_seqscan = off"] : [];
      const plan = JSON.stringify(await execute(opened.address, ...settings, `${EXPLAIN[engine]} ${sql}`));
      expect(plan).to.include("journal_own_rows");
      expect(plan).not.to.match(/TEMP B-TREE|"Sort|Seq Scan/);
    } finally {
      await opened.dispose();
    }
  });
}
