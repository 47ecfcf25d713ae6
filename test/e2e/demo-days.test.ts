import { credentials } from "@grpc/grpc-js";
import { expect } from "chai";

import { KescClient } from "../../client/kesc-client.js";
import { type Demo, makeDemo } from "../../src/cli/commands/demo.js";
import { fillDemoBook } from "../../src/cli/commands/demo-book.js";
import { DemoPeople } from "../../src/cli/commands/demo-people.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { blocksOf, pasted } from "../support/documents/pasted.js";
import { eventually } from "../support/eventually.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const MINUTE_MILLIS = 60_000;
const HOUR_MILLIS = 60 * MINUTE_MILLIS;
const DONE = { millisMax: 20_000, what: () => "the redemption over the sandbox rail never ended" };

describe("the demonstration, left running", () => {
  let running: InProcess;
  let demo: Demo | undefined;
  let client: KescClient;
  let people: DemoPeople;
  let passedMillis = 0;
  before(async () => {
    // No clock is ahead of that of the gateway, which says when a call ends.
    const now = () => toUnixMillis(Date.now() - 50 * HOUR_MILLIS + passedMillis);
    running = await startInProcess("sqlite", now, { KESC_OPERATOR_ADDRESS: "127.0.0.1:0" }, async (database) => {
      demo = await makeDemo(database, now);
    });
    const { secret = "", people: prepared = [] } = demo ?? {};
    client = new KescClient({ address: running.grpcAddress, apiKey: secret });
    people = new DemoPeople(prepared, running.operatorAddress ?? "", credentials.createInsecure());
    await fillDemoBook(client);
  });
  after(async () => {
    client.close();
    people.close();
    await running.dispose();
  });

  for (const [time, millis] of [
    ["20 minutes", 20 * MINUTE_MILLIS],
    ["an hour", HOUR_MILLIS],
    ["13 hours", 13 * HOUR_MILLIS],
    ["49 hours", 49 * HOUR_MILLIS],
  ] as const) {
    it(`takes the requests of the README after ${time}, and gives its people new links`, async () => {
      passedMillis = millis;
      const names = (block: string) => block.replaceAll(/achieng|cash-(in|out)-1/g, `$&-${String(millis)}`);
      const blocks = blocksOf("README.md").slice(1).map(names);
      const addresses = { http: running.address, grpc: running.grpcAddress };
      const env = { PATH: process.env["PATH"], KESC_API_KEY: demo?.secret };
      const [accountId, minted, , redeemed = ""] = await pasted(blocks, addresses, env);
      expect(accountId).to.match(/^acc_/);
      expect(minted).to.include('"status":"completed"');
      const { id } = JSON.parse(redeemed) as { id: string };
      const status = async () => (await client.transactions.getTransaction({ transaction_id: id })).transaction.status;
      await eventually(async () => (await status()) === "completed", DONE);
      const links = await people.links();
      expect(links.map(({ name }) => name)).to.deep.equal(["Amina", "Brian"]);
    });
  }

  it("still shows payments of unknown outcome", async () => {
    const { transactions } = await client.transactions.listTransactions({ needs_attention: true });
    expect(transactions.map(({ type }) => type)).to.include.members(["mint", "redeem"]);
  });
});
