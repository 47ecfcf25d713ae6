import { expect } from "chai";

import { eventLine } from "../../../src/cli/tail/line.js";
import { describeEachEngine, fresh, newAccount } from "../../support/service/each-engine.js";
import { kesc, type Variables } from "../../support/service/kesc.js";
import { makeKey, withKeys } from "../../support/service/tenants.js";
import { Receiver, verifySignature } from "../../support/webhooks/receiver.js";

describeEachEngine("kesc tail", (service) => {
  const variables = (): Variables => ({ ...service().variables, KESC_API_KEY: service().a.key });
  const time = ["--deadline", "2s"];
  let receiver: Receiver;
  before(async () => {
    receiver = await Receiver.start();
  });
  after(() => receiver.close());

  it("prints the events from a sequence on as JSON, only those asked for, until its time is over", async () => {
    const accountId = await newAccount(service(), "3.00");
    const filter = ["--account", accountId, "--type", "transaction.completed", "--type", "account.created"];
    const { code, stdout, stderr } = await kesc(["tail", "--after", "0", "--json", ...filter, ...time], variables());
    expect(code, stderr).to.equal(0);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { sequence: number; type: string; available_balance: string });
    expect(events.map(({ type }) => type)).to.deep.equal(["account.created", "transaction.completed"]);
    expect(events[1]?.sequence).to.be.above(events[0]?.sequence ?? Infinity);
    expect(events[1]?.available_balance).to.equal("3.00");
  });

  it("begins with new events, and says why it cannot", async () => {
    const { code, stdout } = await kesc(["tail", ...time], variables());
    expect([code, stdout]).to.deep.equal([0, ""]);
    const refused = await kesc(["tail", "--type", "transaction.complete"], variables());
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/INVALID_FIELD[\s\S]*types must be types of events/);
  });

  it("forwards each event as a webhook is delivered, in order, and goes on after an answer that is no success", async () => {
    let [underWay, underWayMost] = [0, 0];
    receiver.answer = (response, { json }) => {
      underWay += 1;
      underWayMost = Math.max(underWayMost, underWay);
      setTimeout(() => {
        underWay -= 1;
        response.writeHead(json.type === "account.created" ? 500 : 204).end();
      }, 20);
    };
    const key = await withKeys(service().databaseUrl, async (keys) => {
      const { id } = await keys.createOrganization(fresh("sandbox"), { isSandbox: true });
      return (await makeKey(keys, id)).secret;
    });
    const post = async (path: string, body: object): Promise<string> =>
      String((await service().rest("POST", path, { key, body })).json["id"]);
    const account_id = await post("/accounts", { user_id: "amina", phone_number: "0712345678" });
    await post("/transactions/mint", { account_id, amount: "3.00", reference: "first" });
    const forward = ["listen", "--after", "0", "--forward-to", receiver.url, ...time];
    const { code, stdout, stderr } = await kesc(forward, { ...variables(), KESC_API_KEY: key });
    expect(code, stderr).to.equal(0);
    const [first = "", ...lines] = stdout.trimEnd().split("\n");
    const [, secret = ""] = /(whsec_[A-Za-z0-9+/]{43}=)$/.exec(first) ?? [];
    for (const delivery of receiver.received) verifySignature(delivery, secret);
    expect(receiver.received.map(({ headers }) => headers["user-agent"])).to.include("KESC-Webhooks/1");
    const { text } = await service().rest("GET", "/events", { key });
    for (const { body } of receiver.received) expect(text).to.include(body.replace(/^.*?,"data":(.*)}$/s, "$1"));
    expect(receiver.sequences).to.deep.equal(lines.map((_, index) => index + 1));
    expect(underWayMost).to.equal(1);
    expect(lines.map((line) => line.replace(/\d+ ms$/, ""))).to.include.members([
      `${String(lines.length - 1)}  account.created  it responded with 500  `,
      `${String(lines.length)}  transaction.completed  204  `,
    ]);
    await receiver.close();
    const nobody = await kesc(forward, { ...variables(), KESC_API_KEY: key });
    expect(nobody.stdout).to.match(/transaction\.completed {2}it refused the connection {2}\d+ ms\n$/);
  });

  it("forwards no events of real customers", async () => {
    const refused = await kesc(["tail", "--forward-to", "http://localhost:1/", ...time], variables());
    expect([refused.code, refused.stdout]).to.deep.equal([2, ""]);
    expect(refused.stderr).to.match(/^--forward-to: the organization org_\w+ is no sandbox/m);
  });
});

describe("the URL of kesc tail --forward-to", () => {
  for (const [url, problem] of [
    ["http://192.168.0.2:3000/", "must begin with https"],
    ["http://example.com/", "must begin with https"],
    ["https://192.168.0.2/", "must not be an IP address that is not public"],
    ["https://example.com:8443/", "must begin with https, and have the port 443"],
    ["localhost:3000", "must be an https address"],
  ] as const) {
    it(`is not ${url}`, async () => {
      const { code, stderr } = await kesc(["tail", "--forward-to", url], {});
      expect(code).to.equal(2);
      expect(stderr).to.include("--forward-to <url>").and.include(`It ${problem}`).and.include("http://127.0.0.1:3000");
    });
  }
});

describe("the lines of kesc tail", () => {
  const event = { sequence: 7, recorded_at: "2026-11-22T09:15:02.117Z", type: "transaction.pending" };
  const about = {
    transaction: null,
    account: null,
    api_key_id: null,
    webhook_endpoint_id: null,
    deposit: null,
    rail_warning: null,
    destination: null,
    available_balance: null,
    row: null,
  };
  const said = {
    debit_account: null,
    credit_account: null,
    amount: null,
    stated_amount: null,
    place: null,
    direction: null,
  };
  const available_balance = "1.00";
  for (const [what, given, line] of [
    [
      "a transaction and the balance",
      { transaction: { id: "txn_1", type: "mint", status: "pending", amount: "5.00" }, available_balance },
      "txn_1  MINT 5.00 PENDING  balance 1.00",
    ],
    ["an account", { account: { id: "acc_1", status: "frozen" }, available_balance }, "acc_1  FROZEN  balance 1.00"],
    ["an API key", { api_key_id: "key_1" }, "key_1"],
    ["an endpoint", { webhook_endpoint_id: "whe_1" }, "whe_1"],
    ["a deposit", { deposit: { id: "dep_1", status: "unallocated", amount: "5.00" } }, "dep_1  5.00 UNALLOCATED"],
    ["a warning", { rail_warning: { rail: "mpesa", code: "FLOAT_LOW" } }, "mpesa  FLOAT_LOW"],
    ["a destination", { destination: { id: "dst_1", kind: "till", masked_number: "****321" } }, "dst_1  TILL ****321"],
    [
      "what a correction moves",
      { row: { ...said, debit_account: "reserve", credit_account: "charges", amount: "5.00", direction: "in" } },
      "reserve to charges 5.00  in",
    ],
    ["a figure", { row: { ...said, place: "KCB 1234", stated_amount: "7.00" } }, "KCB 1234 7.00"],
    ["limits", { row: said }, ""],
    ["nothing", {}, ""],
  ] as const) {
    it(`show ${what}`, () => {
      const rest = line === "" ? "" : `  ${line}`;
      expect(eventLine({ ...event, ...about, ...given })).to.equal(
        `7  2026-11-22T09:15:02.117Z  transaction.pending${rest}`,
      );
    });
  }
});
