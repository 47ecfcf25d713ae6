import { expect } from "chai";

import { problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

describe("ResolveTransaction", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const resolve = (id: string, body: object) => service.post(`/transactions/${id}/resolve`, body);

  it("ends a small payment on the word of one person, and credits what came in", async () => {
    const id = await service.unknownMint(100);
    const { status, json } = await resolve(id, {
      completed: { rail_receipt: "sandbox:RKT0000001" },
      note: "on the statement",
    });
    expect([status, json["state"]]).to.deep.equal([200, "done"]);
    expect(json["transaction"]).to.include({
      id,
      status: "completed",
      status_note: "on the statement",
      rail_receipt: "sandbox:RKT0000001",
      needs_attention: false,
      available_balance_after: 100,
    });
    const again = await resolve(id, { completed: { rail_receipt: "sandbox:RKT0000001" } });
    expect([again.status, again.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
    const other = await resolve(id, { failed: {} });
    expect(problemOf(other)).to.include({ status: 422, code: "TRANSACTION_ALREADY_ENDED" });
  });

  it("only notes what one person says about a large payment", async () => {
    const id = await service.unknownMint(101);
    const first = await resolve(id, { failed: {}, note: "the rail says so" });
    expect(first.json).to.deep.equal({
      state: "proposed",
      transaction: (await service.get(`/transactions/${id}`)).json,
      correction: null,
    });
    // A second key of the same name is the same person.
    const second = await resolve(id, { failed: {} });
    expect([second.json["state"], second.headers["idempotent-replayed"]]).to.deep.equal(["proposed", "true"]);
  });

  it("books what moved as a linked transaction, and returns both, also in a replay", async () => {
    const id = await service.unknownMint(100);
    const moved = { moved: { amount: 99, rail_receipt: "sandbox:RKT0000002" } };
    const { json } = await resolve(id, moved);
    expect(json["state"]).to.equal("done");
    const linked = json["correction"] as Record<string, unknown>;
    expect(linked).to.include({ corrects_transaction_id: id, correction: "late", status: "completed", amount: 99 });
    const { json: original } = await service.get(`/transactions/${id}`);
    expect(json["transaction"]).to.deep.equal(original);
    expect(original).to.include({ status: "failed", needs_attention: false });
    expect(original["failure"]).to.include({ reason: "report_differs" });
    const again = await resolve(id, moved);
    expect([again.headers["idempotent-replayed"], again.json]).to.deep.equal(["true", json]);
    const used = await resolve(await service.unknownMint(100), { completed: { rail_receipt: "sandbox:RKT0000002" } });
    expect(problemOf(used)).to.include({ status: 409, code: "RECEIPT_ALREADY_USED" });
    expect(used.json).to.include({ rail_receipt: "sandbox:RKT0000002", transaction_id: linked["id"] });
  });

  it("refuses a receipt that the rail of the order cannot have given", async () => {
    const refused = await resolve(await service.unknownMint(100), { completed: { rail_receipt: "RKT0000003" } });
    expect(refused.json).to.include({ status: 422, code: "RECEIPT_OF_OTHER_RAIL", rail: "sandbox" });
  });

  it("refuses a transaction without an order by one reason, as each call that needs an order does", async () => {
    const id = String((await service.tryMint({ amount: 1, rail: "direct" })).json["id"]);
    const replies = [
      await resolve(id, { failed: {} }),
      await service.post(`/transactions/${id}/clear-flag`, { flag: "outcome_unknown" }),
      await service.post(`/sandbox/transactions/${id}/advance`, {}),
      await service.get(`/transactions/${id}/payment`),
    ];
    for (const reply of replies) expect(problemOf(reply)).to.include({ status: 404, code: "PAYMENT_NOT_FOUND" });
  });

  it("names every bad field, and needs an outcome", async () => {
    const bad = await resolve("txn_1", { moved: { amount: 1.005, rail_receipt: "" }, note: "x".repeat(257) });
    expect(problemOf(bad)).to.deep.include({ status: 400, fields: ["note", "moved.amount", "moved.rail_receipt"] });
    expect(problemOf(await resolve("txn_1", {})).fields).to.deep.equal(["completed"]);
    const two = await resolve("txn_1", { failed: {}, completed: { rail_receipt: "R" } });
    expect(two.status).to.equal(400);
  });

  it("ends a payment that the rail has, though no flag is up", async () => {
    const { status, json } = await resolve(await service.mint(100), { failed: {} });
    expect([status, json["state"]]).to.deep.equal([200, "done"]);
  });

  it("refuses a payment of another organization", async () => {
    const id = await service.mint(100);
    const { b } = service.running;
    const foreign = await service.post(`/transactions/${id}/resolve`, { failed: {} }, b.key);
    expect(problemOf(foreign)).to.include({ status: 404, code: "TRANSACTION_NOT_FOUND" });
  });

  it("is found in the list of what needs attention until it is resolved", async () => {
    const id = await service.unknownMint(100);
    const listed = async (query: string): Promise<string[]> => {
      const { json } = await service.get(`/transactions?${query}`);
      return (json["transactions"] as { id: string }[]).map((one) => one.id);
    };
    expect(await listed("needs_attention=true")).to.include(id);
    expect(await listed("needs_attention=false")).not.to.include(id);
    await resolve(id, { failed: {} });
    expect(await listed("needs_attention=true")).not.to.include(id);
    expect(await listed("needs_attention=false&statuses=failed")).to.include(id);
  });
});
