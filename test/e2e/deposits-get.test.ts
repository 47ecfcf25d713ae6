import { expect } from "chai";

import type { MaskedPhone } from "../../src/domain/values/masked-phone.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import {
  describeEachEngine,
  fresh,
  freshReceipt,
  newAccount,
  newKey,
  problemOf,
} from "../support/service/each-engine.js";
import { commitBeside, receiveDeposits } from "../support/service/given-deposits.js";

describeEachEngine("GetDeposit", (service) => {
  const phone = "254******678" as MaskedPhone;
  const paidAt = toUnixMillis(Date.UTC(2026, 10, 20, 9));

  it("returns a deposit that waits, over both protocols", async () => {
    const receipt = freshReceipt();
    const [id = ""] = await receiveDeposits(service(), { receipt, typed: "mama mboga", phone, paidAt });
    const { status, json } = await service().rest("GET", `/deposits/${id}`);
    expect(status).to.equal(200);
    const { created_at: createdAt, ...others } = json;
    expect(others).to.deep.equal({
      id,
      status: "unallocated",
      reason: "unknown_reference",
      amount: 5,
      rail: "mpesa",
      rail_receipt: receipt,
      receipt: null,
      masked_payer_phone_number: "+254******678",
      typed_reference: "mama mboga",
      account_id: null,
      transaction_id: null,
      paid_at: "2026-11-20T09:00:00.000Z",
      updated_at: createdAt,
      same_number: null,
    });
    const { response } = await service().grpc.call("GetDeposit", { deposit_id: id });
    expect(response["deposit"]).to.include({
      id,
      status: "DEPOSIT_STATUS_UNALLOCATED",
      reason: "DEPOSIT_REASON_UNKNOWN_REFERENCE",
      amount: "5.00",
    });
  });

  it("returns a deposit with the mint that credits it, which names the deposit", async () => {
    const accountId = await newAccount(service());
    const account = await service().rest("GET", `/accounts/${accountId}`);
    const typed = String(account.json["deposit_reference"]);
    const [id = ""] = await receiveDeposits(service(), { receipt: freshReceipt(), typed });
    const { json } = await service().rest("GET", `/deposits/${id}`);
    expect(json).to.include({ status: "credited", reason: null, account_id: accountId });
    const mint = await service().rest("GET", `/transactions/${String(json["transaction_id"])}`);
    expect(mint.json).to.include({
      type: "mint",
      status: "completed",
      amount: 5,
      account_id: accountId,
      deposit_id: id,
      rail: "mpesa",
      rail_receipt: json["rail_receipt"],
      reference: `kesc:deposit:${id}:1`,
    });
    const reversed = await service().rest("POST", `/transactions/${String(json["transaction_id"])}/reverse`);
    expect(problemOf(reversed)).to.include({ status: 422, code: "TRANSACTION_NOT_REVERSIBLE" });
    expect(reversed.json["cause"]).to.equal("deposit");
  });

  it("shows a deposit that a mint has claimed by its receipt, and refuses the receipt to another", async () => {
    const [accountId, receipt] = [await newAccount(service()), fresh("kcb-1:R")];
    const [id = ""] = await receiveDeposits(service(), { receipt });
    const number = receipt.slice("kcb-1:".length);
    const mint = (amount: number, reference = fresh("claim")) =>
      service().rest("POST", "/transactions/mint", {
        body: { account_id: accountId, amount, reference, receipt: { source: "kcb-1", number } },
      });
    const less = await mint(4.99);
    expect(problemOf(less)).to.include({ status: 409, code: "RECEIPT_ALREADY_USED" });
    expect(less.json).to.include({ rail_receipt: receipt, deposit_id: id });
    const claimed = await mint(5);
    expect(claimed.json).to.include({ status: "completed", rail: "direct", deposit_id: id });
    expect(claimed.json["receipt"]).to.deep.equal({ source: "kcb-1", number });
    const { json } = await service().rest("GET", `/deposits/${id}`);
    expect(json).to.include({ status: "credited", account_id: accountId, transaction_id: claimed.json["id"] });
    expect(problemOf(await mint(5))).to.include({ code: "RECEIPT_ALREADY_USED" });
  });

  it("names the mint that had its number before, from another source, and is not credited by itself", async () => {
    const [accountId, receipt] = [await newAccount(service()), freshReceipt()];
    const account = await service().rest("GET", `/accounts/${accountId}`);
    const mint = (source: string) =>
      service().rest("POST", "/transactions/mint", {
        body: { account_id: accountId, amount: 5, reference: fresh("by-hand"), receipt: { source, number: receipt } },
      });
    const minted = await mint("kcb");
    const typed = String(account.json["deposit_reference"]);
    const [id = ""] = await receiveDeposits(service(), { receipt, typed });
    const { json } = await service().rest("GET", `/deposits/${id}`);
    expect(json).to.include({ status: "unallocated", reason: "receipt_already_used", rail_receipt: receipt });
    const of = { receipt: { source: "kcb", number: receipt }, transaction_id: minted.json["id"], deposit_id: null };
    expect(json["same_number"]).to.deep.equal(of);
    const listed = await service().rest("GET", "/deposits?reasons=receipt_already_used");
    expect((listed.json["deposits"] as readonly object[])[0]).to.deep.include({ id, same_number: of });
    expect(problemOf(await mint("mpesa"))).to.include({ status: 409, code: "RECEIPT_ALREADY_USED" });
  });

  it("refuses a deposit that is none, or of another organization, and a key without the scope", async () => {
    const { b } = service();
    const [theirs] = await commitBeside(service(), [receiveDeposit(b.organizationId, { receipt: freshReceipt() })]);
    for (const id of [theirs?.deposit?.id ?? "", "dep_01jd2r6p5vf8ksw3xhb1z7q4ye", "x"]) {
      const reply = await service().rest("GET", `/deposits/${id}`);
      expect(problemOf(reply)).to.include({ status: 404, code: "DEPOSIT_NOT_FOUND" });
      expect(reply.json["deposit_id"]).to.equal(id);
    }
    const own = await service().rest("GET", `/deposits/${theirs?.deposit?.id ?? ""}`, { key: b.key });
    expect(own.status).to.equal(200);
    const { secret: key } = await newKey(service(), { scopes: ["transactions:read", "accounts:read"] });
    for (const path of ["/deposits/x", "/deposits", "/accounts/x/deposit-instructions"]) {
      const refused = await service().rest("GET", path, { key });
      expect(problemOf(refused)).to.include({ status: 403, code: "SCOPE_REQUIRED" });
      expect(refused.json["scope"]).to.equal("deposits:read");
    }
  });

  it("shows its events in order, without what the payer typed", async () => {
    const { json: before } = await service().rest("GET", "/events?after_sequence=0&page_size=1");
    const accountId = await newAccount(service());
    const account = await service().rest("GET", `/accounts/${accountId}`);
    const typed = String(account.json["deposit_reference"]);
    const receipts = [freshReceipt(), freshReceipt()] as const;
    const ids = await receiveDeposits(
      service(),
      { receipt: receipts[0], typed: "0712345678", phone, paidAt },
      { receipt: receipts[1], typed, phone },
    );
    const { json, text } = await service().rest("GET", `/events?after_sequence=${String(before["latest_sequence"])}`);
    const events = json["events"] as Record<string, unknown>[];
    const seen = events.map(({ type, deposit, transaction, account: of }) => {
      const { id, status, reason, deposit_id, deposit_reference } = (deposit ?? transaction ?? of) as Record<
        string,
        unknown
      >;
      return [type, id, status, reason ?? deposit_id ?? deposit_reference ?? null];
    });
    const mint = events.find(({ transaction }) => transaction !== null)?.["transaction"] as Record<string, unknown>;
    expect(seen).to.deep.equal([
      ["account.created", accountId, "active", typed],
      ["deposit.received", ids[0], "unallocated", "unknown_reference"],
      ["deposit.received", ids[1], "unallocated", null],
      ["transaction.completed", mint["id"], "completed", ids[1]],
    ]);
    expect(mint).to.include({ account_id: accountId, rail_receipt: receipts[1], deposit_id: ids[1] });
    expect(events[1]?.["deposit"]).to.deep.include({
      amount: 5,
      rail: "mpesa",
      rail_receipt: receipts[0],
      masked_payer_phone_number: "+254******678",
      typed_reference: null,
      account_id: null,
      paid_at: "2026-11-20T09:00:00.000Z",
    });
    expect(text).not.to.include("0712345678");
  });
});
