import { expect } from "chai";

import { describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";

// Together larger than the 4 MiB that a client of gRPC takes unless told otherwise.
const ROWS = 110;
const IN_A_BATCH = 20;
/** Four bytes a character, in each pair that there may be. */
const FULL = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`${"𝒦".repeat(38)}${String(index + 10)}`, "𝒱".repeat(500)]),
);
const WORDS = "𝒟".repeat(256);

type Rows = readonly Record<string, unknown>[];

describeEachEngine("a page whose rows are all as large as they can be", (service) => {
  let accountId = "";

  before(async () => {
    accountId = await newAccount(service());
    const requests = Array.from({ length: ROWS }, () => ({
      mint: { account_id: accountId, amount: "1.00", reference: fresh("full"), description: WORDS, metadata: FULL },
    }));
    for (let at = 0; at < ROWS; at += IN_A_BATCH) {
      const batch = { requests: requests.slice(at, at + IN_A_BATCH) };
      const { code, response } = await service().grpc.call("BatchCreateTransactions", batch);
      expect(code).to.equal(0);
      expect((response["results"] as Rows).filter((result) => !("transaction" in result))).to.deep.equal([]);
    }
  });

  for (const [rpc, list, next, extra] of [
    ["ListTransactions", "transactions", "page_token", {}],
    ["ListTransactions", "transactions", "page_token", { statuses: ["TRANSACTION_STATUS_COMPLETED"] }],
    ["ListEvents", "events", "after_sequence", { page_size: 200, types: ["transaction.completed"] }],
  ] as const) {
    it(`${rpc} by ${Object.keys(extra).join(", ") || "its account"} ends in good time, and the next goes on`, async () => {
      const rows: Record<string, unknown>[] = [];
      let pages = 0;
      let at: unknown = undefined;
      for (;;) {
        const asked = {
          account_id: accountId,
          page_size: 1_000,
          ...extra,
          ...(at === undefined ? {} : { [next]: at }),
        };
        const { code, message, response } = await service().grpc.call(rpc, asked);
        expect(code, message).to.equal(0);
        const found = (response[list] ?? []) as Rows;
        rows.push(...found);
        pages += 1;
        at = next === "page_token" ? response["next_page_token"] : response["next_sequence"];
        if (next === "page_token" ? at === undefined || at === "" : at === response["latest_sequence"]) break;
      }
      expect(rows).to.have.lengthOf(ROWS);
      const names = rows.map((row) => row["id"] ?? row["sequence"]);
      expect(new Set(names).size).to.equal(ROWS);
      expect(pages).to.be.above(1);
    });
  }
});
