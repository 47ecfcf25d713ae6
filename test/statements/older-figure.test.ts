import { expect } from "chai";

import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { keys } from "../../src/storage/keys.js";
import { commitAll } from "../support/commit.js";
import { databaseOfSuite } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { recordReserve } from "../support/operations/book.js";
import { historyOf } from "./random-history.js";

describe("a figure of an older day", () => {
  const opened = databaseOfSuite("sqlite");

  it("is no last figure, for readers and for the audit", async () => {
    const now = toUnixMillis(Date.UTC(2026, 10, 5));
    const { id } = await keys(opened.database, () => now).createOrganization("older");
    for (const day of ["2026-11-03", "2026-11-02"]) {
      await commitAll(opened.cell, [recordReserve(id, "KCB", { asOfDay: day as NairobiDay })], now);
    }
    const holdings = await historyOf(opened.database, id).history.reads.reserveHoldings(id);
    expect(holdings.map(({ asOfDay }) => asOfDay)).to.deep.equal(["2026-11-03"]);
    expect(await findingsIn(opened.database)).to.deep.equal([]);
  });
});
