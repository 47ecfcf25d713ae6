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
    expect([status, json["status"], json["account_id"]]).to.deep.equal([201, "credited", account["id"]]);

    const listed = await service.get("/transactions?receipt=sandbox:SKQ7XH2M4P");
    const [mint, ...others] = listed.json["transactions"] as Readonly<Record<string, unknown>>[];
    expect(others).to.deep.equal([]);
    const credit = { status: "completed", rail: "sandbox", rail_receipt: "sandbox:SKQ7XH2M4P", deposit_id: json["id"] };
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
    const direct = { rail: "direct", receipt: { source: "sandbox", number: "SKQ7XH2M4T" }, reference: "mint-1" };
    const { json } = await service.post("/transactions/mint", { account_id: account["id"], amount: 10, ...direct });
    const refused = await pay({ amount: 10, typed_reference: account["deposit_reference"], receipt: "SKQ7XH2M4T" });
    expect(refused.json).to.include({ status: 409, code: "RECEIPT_ALREADY_USED", transaction_id: json["id"] });
  });

  it("is credited by the mint that names its receipt, and once", async () => {
    const { json: deposit } = await pay({ amount: 77, receipt: "CLSA8R2M4P" });
    const mint = async (source: string, reference: string) => {
      const receipt = { source, number: "CLSA8R2M4P" };
      const body = { account_id: account["id"], amount: 77, rail: "direct", receipt, reference };
      return (await service.post("/transactions/mint", body)).json;
    };
    const minted = await mint("sandbox", "claim-1");
    expect(minted).to.deep.include({ deposit_id: deposit["id"], receipt: { source: "sandbox", number: "CLSA8R2M4P" } });
    const { json: credited } = await service.get(`/deposits/${String(deposit["id"])}`);
    expect(credited).to.include({
      status: "credited",
      transaction_id: minted["id"],
      rail_receipt: "sandbox:CLSA8R2M4P",
    });
    expect(await mint("sandbox", "claim-2")).to.include({ code: "RECEIPT_ALREADY_USED" });
    // M-Pesa may give the same number. It is another receipt.
    expect(await mint("mpesa", "claim-3")).to.include({ status: "completed", deposit_id: null });
  });

  it("is told to a payer by the instructions of the account", async () => {
    const { json } = await service.get(`/accounts/${String(account["id"])}/deposit-instructions`);
    const deposit_reference = account["deposit_reference"];
    expect(json["instructions"]).to.deep.equal([{ rail: "sandbox", business_number: "000000", deposit_reference }]);
  });

  it("refuses what it would have to cut", async () => {
    for (const typed_reference of ["1".repeat(65), " 20000006", "2000\u00000006"]) {
      const refused = problemOf(await pay({ amount: 1, typed_reference, receipt: "SKQ7XH2M4V" }));
      expect(refused).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["typed_reference"] });
    }
  });

  it("names the field that is wrong, and needs the rail", async () => {
    const wrong = await pay({ amount: -1, payer_phone_number: "x", receipt: "a b" });
    const fields = (wrong.json["errors"] as { readonly field: string }[]).map(({ field }) => field);
    expect(fields).to.have.members(["amount", "payer_phone_number", "receipt"]);
    const other = await pay({ amount: 1, receipt: "SKQ7XH2M4S" }, service.running.a.key);
    expect(problemOf(other)).to.include({ status: 422, code: "RAIL_NOT_CONFIGURED" });
  });
});
