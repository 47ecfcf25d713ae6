import { expect } from "chai";

import { problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("CreateDeposit of the sandbox", () => {
  let service: WithRails;
  let account: Readonly<Record<string, unknown>>;
  before(async () => {
    service = await WithRails.start();
    const person = { user_id: "amina", phone_number: "+254712345678" };
    account = (await service.post("/accounts", person)).json;
  });
  after(() => service.dispose());

  const pay = (payment: object, key?: string) => service.post("/sandbox/deposits", payment, key);

  it("credits the account whose deposit_reference the payer types, once for each receipt", async () => {
    const payment = { amount: 250, typed_reference: account["deposit_reference"], receipt: "SKQ7XH2M4P" };
    const { status, json } = await pay({ ...payment, payer_phone_number: "0700000001" });
    expect([status, json["status"], json["account_id"]]).to.deep.equal([200, "credited", account["id"]]);
    const again = await pay(payment);
    expect([again.json["id"], again.headers["idempotent-replayed"]]).to.deep.equal([json["id"], "true"]);

    const listed = await service.get("/transactions?receipt=SKQ7XH2M4P");
    const [mint, ...others] = listed.json["transactions"] as Readonly<Record<string, unknown>>[];
    expect(others).to.deep.equal([]);
    const credit = { status: "completed", rail: "sandbox", rail_receipt: "SKQ7XH2M4P", deposit_id: json["id"] };
    expect(mint).to.include({ id: json["transaction_id"], amount: 250, available_balance_after: 250, ...credit });
    expect((await service.get(`/transactions/${String(mint?.["id"])}/payment`)).json["code"]).to.equal(
      "PAYMENT_NOT_FOUND",
    );
  });

  it("keeps what names no account for a person", async () => {
    const { json } = await pay({ amount: 10.5, typed_reference: "my shop", receipt: "SKQ7XH2M4Q" });
    const waiting = { status: "unallocated", reason: "unknown_reference", typed_reference: "my shop" };
    expect(json).to.include({ ...waiting, account_id: null });
    expect((await pay({ amount: 1, receipt: "SKQ7XH2M4R" })).json).to.include({
      reason: "no_reference",
      typed_reference: null,
    });
  });

  it("refuses the receipt of a mint, and books nothing", async () => {
    const direct = { rail: "direct", receipt: { source: "mpesa", number: "SKQ7XH2M4T" }, reference: "mint-1" };
    const { json } = await service.post("/transactions/mint", { account_id: account["id"], amount: 10, ...direct });
    const refused = await pay({ amount: 10, typed_reference: account["deposit_reference"], receipt: "SKQ7XH2M4T" });
    expect(refused.json).to.include({ status: 409, code: "RECEIPT_ALREADY_USED", transaction_id: json["id"] });
  });

  it("names the field that is wrong, and needs the rail", async () => {
    const wrong = await pay({ amount: -1, payer_phone_number: "x", receipt: "a b" });
    const fields = (wrong.json["errors"] as { readonly field: string }[]).map(({ field }) => field);
    expect(fields).to.have.members(["amount", "payer_phone_number", "receipt"]);
    const other = await pay({ amount: 1, receipt: "SKQ7XH2M4S" }, service.running.a.key);
    expect(problemOf(other)).to.include({ status: 422, code: "RAIL_NOT_CONFIGURED" });
  });
});
