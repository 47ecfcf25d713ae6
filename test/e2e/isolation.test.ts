import { expect } from "chai";

import { describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";

describeEachEngine("one organization and another", (service) => {
  let theirs: { account_id: string; transaction_id: string; user_id: string; reference: string };

  before(async () => {
    const account_id = await newAccount(service(), "50.00");
    const account = (await service().rest("GET", `/accounts/${account_id}`)).json;
    const reference = fresh("theirs");
    const minted = await service().rest("POST", "/transactions/mint", { body: { account_id, amount: 1, reference } });
    theirs = { account_id, transaction_id: String(minted.json["id"]), user_id: String(account["user_id"]), reference };
  });

  it("can't be seen, named, minted to or redeemed from, whatever rpc is tried", async () => {
    const key = service().b.key;
    const { account_id, transaction_id } = theirs;
    const movement = { account_id, amount: "1.00", reference: fresh("intruder") };
    for (const [method, request, reason] of [
      ["GetAccount", { account_id }, "ACCOUNT_NOT_FOUND"],
      ["FreezeAccount", { account_id }, "ACCOUNT_NOT_FOUND"],
      ["UnfreezeAccount", { account_id }, "ACCOUNT_NOT_FOUND"],
      ["CloseAccount", { account_id }, "ACCOUNT_NOT_FOUND"],
      ["Mint", movement, "ACCOUNT_NOT_FOUND"],
      ["Redeem", movement, "ACCOUNT_NOT_FOUND"],
      ["GetTransaction", { transaction_id }, "TRANSACTION_NOT_FOUND"],
      ["CancelTransaction", { transaction_id }, "TRANSACTION_NOT_FOUND"],
    ] as const) {
      const answer = await service().grpc.call(method, request, { key });
      expect(answer, method).to.include({ code: 5, reason });
    }
    for (const [method, request, list] of [
      ["ListAccounts", {}, "accounts"],
      ["ListAccounts", { user_id: theirs.user_id }, "accounts"],
      ["ListTransactions", {}, "transactions"],
      ["ListTransactions", { account_id }, "transactions"],
      ["ListTransactions", { reference: theirs.reference }, "transactions"],
    ] as const) {
      const { code, response } = await service().grpc.call(method, request, { key });
      expect(code).to.equal(0);
      const ids = (response[list] as { id: string }[]).map(({ id }) => id);
      expect(ids, method).to.not.include.members([account_id]);
      expect(ids, method).to.not.include.members([transaction_id]);
    }
  });

  it("answers exactly as for an id that does not exist", async () => {
    const { b } = service();
    const unknown = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
    const [foreign, missing] = [
      await service().rest("GET", `/accounts/${theirs.account_id}`, { key: b.key }),
      await service().rest("GET", `/accounts/${unknown}`, { key: b.key }),
    ];
    const blurred = (text: string): string =>
      text.replace(/acc_[0-9a-z]{26}/g, "acc").replace(/"request_id":"[^"]*"/, "");
    expect(foreign.status).to.equal(missing.status);
    expect(blurred(foreign.text)).to.equal(blurred(missing.text));
  });

  it("may use the same user_id, reference and idempotency key without a clash", async () => {
    const { b } = service();
    const account = await service().rest("POST", "/accounts", {
      key: b.key,
      body: { user_id: theirs.user_id, phone_number: "0712345678" },
    });
    expect(account.status).to.equal(201);
    const headers = { "idempotency-key": fresh("shared") };
    const body = { amount: 1, reference: theirs.reference };
    const mint = (account_id: string, key: string, reference: string): Promise<number> =>
      service()
        .rest("POST", "/transactions/mint", { key, headers, body: { ...body, account_id, reference } })
        .then(({ status }) => status);
    expect(await mint(theirs.account_id, service().a.key, fresh("own"))).to.equal(201);
    expect(await mint(String(account.json["id"]), b.key, theirs.reference)).to.equal(201);
  });

  it("can't page through another's list with its token", async () => {
    await newAccount(service());
    const page = await service().rest("GET", "/accounts?page_size=1");
    const token = String(page.json["next_page_token"]);
    const stolen = await service().rest("GET", `/accounts?page_size=1&page_token=${token}`, { key: service().b.key });
    expect(stolen.status).to.equal(400);
  });
});
