import { expect } from "chai";

import { newTransactionId } from "../support/names.js";
import {
  availableOf,
  describeEachEngine,
  expectBooksHold,
  fresh,
  newAccount,
  newKey,
  problemOf,
} from "../support/service/each-engine.js";
import type { Service } from "../support/service/service.js";

interface TransactionJson {
  readonly [field: string]: unknown;
  readonly id: string;
}

/** Makes a transaction over REST; returns it. */
async function move(
  service: Service,
  way: "mint" | "redeem",
  account_id: string,
  amount: string,
): Promise<TransactionJson> {
  const body = { account_id, amount, reference: fresh(way) };
  const { status, text, json } = await service.rest("POST", `/transactions/${way}`, { body });
  if (status !== 201) throw new Error(text);
  return json as TransactionJson;
}

const pathOf = ({ id }: TransactionJson): string => `/transactions/${id}/reverse`;

describeEachEngine("ReverseTransaction", (service) => {
  it("undoes a mint by a redemption that names it, and the mint then names the redemption", async () => {
    const accountId = await newAccount(service(), "30.00");
    const minted = await move(service(), "mint", accountId, "12.50");
    const body = { description: "typed twice", metadata: { ticket: "9" } };
    const reversed = await service().rest("POST", pathOf(minted), { body });
    expect(reversed.status).to.equal(201);
    expect(reversed.headers["location"]).to.equal(`/transactions/${String(reversed.json["id"])}`);
    expect(reversed.json).to.deep.include({
      account_id: accountId,
      type: "redeem",
      status: "completed",
      amount: 12.5,
      reference: `kesc:reverse:${minted.id}`,
      description: "typed twice",
      metadata: { ticket: "9" },
      rail: "direct",
      corrects_transaction_id: minted.id,
      correction: "reversal",
      reversed_by_transaction_id: null,
    });
    expect(reversed.text).to.include('"available_balance_after":30.00');
    expect(await availableOf(service(), accountId)).to.equal("30.00");

    const original = await service().rest("GET", `/transactions/${minted.id}`);
    expect(original.json).to.deep.equal({ ...minted, reversed_by_transaction_id: reversed.json["id"] });
    await expectBooksHold(service());
  });

  it("undoes a redemption by a mint, over gRPC", async () => {
    const accountId = await newAccount(service(), "30.00");
    const redeemed = await move(service(), "redeem", accountId, "30.00");
    const { response } = await service().grpc.call("ReverseTransaction", { transaction_id: redeemed.id });
    expect(response["transaction"]).to.include({
      type: "TRANSACTION_TYPE_MINT",
      status: "TRANSACTION_STATUS_COMPLETED",
      amount: "30.00",
      corrects_transaction_id: redeemed.id,
      correction: "TRANSACTION_CORRECTION_REVERSAL",
      available_balance_after: "30.00",
    });
    expect(await availableOf(service(), accountId)).to.equal("30.00");
  });

  it("replays the same call, also after the account is frozen, and never moves the money twice", async () => {
    const accountId = await newAccount(service(), "5.00");
    const minted = await move(service(), "mint", accountId, "5.00");
    const body = { description: "typed twice" };
    const first = await service().rest("POST", pathOf(minted), { body });
    await service().rest("POST", `/accounts/${accountId}/freeze`, { body: { reason: "fraud" } });
    const again = await service().rest("POST", pathOf(minted), { body });
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(again.headers["idempotent-replayed"]).to.equal("true");
    expect(again.text).to.equal(first.text);
    const request = { transaction_id: minted.id, ...body };
    const options = { metadata: { "idempotency-key": fresh("key") } };
    for (const each of [options, options, {}]) {
      const grpc = await service().grpc.call("ReverseTransaction", request, each);
      expect(grpc.replayed).to.equal(true);
      expect(grpc.response["transaction"]).to.include({ id: first.json["id"] });
    }
    expect(await availableOf(service(), accountId)).to.equal("5.00");
  });

  it("shows the reversal in a repeat of the mint", async () => {
    const account_id = await newAccount(service());
    const body = { account_id, amount: "5.00", reference: fresh("undone") };
    const minted = await service().rest("POST", "/transactions/mint", { body });
    const reversed = await service().rest("POST", pathOf(minted.json as TransactionJson));
    const again = await service().rest("POST", "/transactions/mint", { body });
    expect(again.status).to.equal(200);
    expect(again.json).to.include({ id: minted.json["id"], reversed_by_transaction_id: reversed.json["id"] });
    expect(await availableOf(service(), account_id)).to.equal("0.00");
  });

  it("reverses once when many callers want it at once", async () => {
    const accountId = await newAccount(service(), "100.00");
    const minted = await move(service(), "mint", accountId, "5.00");
    const replies = await Promise.all(Array.from({ length: 8 }, () => service().rest("POST", pathOf(minted))));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([...Array<number>(7).fill(200), 201]);
    expect(new Set(replies.map(({ json }) => json["id"])).size).to.equal(1);
    expect(await availableOf(service(), accountId)).to.equal("100.00");
  });

  it("refuses a second reversal with other content, and names the first", async () => {
    const accountId = await newAccount(service(), "5.00");
    const minted = await move(service(), "mint", accountId, "5.00");
    const first = await service().rest("POST", pathOf(minted));
    const rest = await service().rest("POST", pathOf(minted), { body: { description: "another" } });
    expect(problemOf(rest)).to.include({ status: 409, code: "TRANSACTION_ALREADY_REVERSED" });
    expect(rest.json).to.deep.include({
      transaction_id: minted.id,
      reversed_by_transaction_id: first.json["id"],
      differing_fields: ["description"],
    });
    const request = { transaction_id: minted.id, metadata: { a: "1" } };
    const grpc = await service().grpc.call("ReverseTransaction", request);
    expect(grpc).to.include({ code: 6, reason: "TRANSACTION_ALREADY_REVERSED" });
    expect(await availableOf(service(), accountId)).to.equal("5.00");
  });

  it("refuses to reverse a reversal", async () => {
    const accountId = await newAccount(service(), "5.00");
    const reversed = await service().rest("POST", pathOf(await move(service(), "mint", accountId, "5.00")));
    const rest = await service().rest("POST", pathOf(reversed.json as TransactionJson));
    expect(problemOf(rest)).to.include({ status: 422, code: "TRANSACTION_NOT_REVERSIBLE" });
    expect(rest.json).to.include({ transaction_id: reversed.json["id"], cause: "is_reversal" });
    const grpc = await service().grpc.call("ReverseTransaction", { transaction_id: reversed.json["id"] });
    expect(grpc).to.include({ code: 9, reason: "TRANSACTION_NOT_REVERSIBLE" });
  });

  it("refuses in the documented order, and leaves the mint free to be reversed later", async () => {
    const accountId = await newAccount(service());
    const minted = await move(service(), "mint", accountId, "5.00");
    const spent = await move(service(), "redeem", accountId, "5.00");
    const tried = async (id: string, key?: string): Promise<unknown[]> => {
      const path = `/transactions/${encodeURIComponent(id)}/reverse`;
      const rest = await service().rest("POST", path, key === undefined ? {} : { key });
      const options = key === undefined ? {} : { key };
      const grpc = await service().grpc.call("ReverseTransaction", { transaction_id: id }, options);
      expect(grpc.reason).to.equal(rest.json["code"]);
      return [rest.status, grpc.code, rest.json["code"]];
    };
    const reader = (await newKey(service(), { scopes: ["transactions:read", "accounts:write"] })).secret;
    expect(await tried(minted.id, "")).to.deep.equal([401, 16, "MISSING_API_KEY"]);
    expect(await tried(minted.id, reader)).to.deep.equal([403, 7, "SCOPE_REQUIRED"]);
    expect(await tried(" ")).to.deep.equal([400, 3, "INVALID_FIELD"]);
    expect(await tried(newTransactionId())).to.deep.equal([404, 5, "TRANSACTION_NOT_FOUND"]);
    expect(await tried("txn_xyz789")).to.deep.equal([404, 5, "TRANSACTION_NOT_FOUND"]);
    expect(await tried(minted.id, service().b.key)).to.deep.equal([404, 5, "TRANSACTION_NOT_FOUND"]);
    const frozen = await service().rest("POST", `/accounts/${accountId}/freeze`, { body: { reason: "fraud" } });
    expect(await tried(minted.id)).to.deep.equal([422, 9, "ACCOUNT_FROZEN"]);
    const { id: freeze_id } = frozen.json["freeze"] as { readonly id: string };
    await service().rest("POST", `/accounts/${accountId}/unfreeze`, { body: { freeze_id } });
    expect(await tried(minted.id)).to.deep.equal([422, 9, "INSUFFICIENT_FUNDS"]);

    const undone = await service().rest("POST", pathOf(spent));
    const undoneToo = await service().rest("POST", pathOf(minted));
    expect([undone.status, undoneToo.status]).to.deep.equal([201, 201]);
    const closed = await move(service(), "mint", accountId, "1.00");
    await move(service(), "redeem", accountId, "1.00");
    await service().rest("POST", `/accounts/${accountId}/close`);
    expect(await tried(closed.id)).to.deep.equal([422, 9, "ACCOUNT_CLOSED"]);
  });

  it("names every bad field at once", async () => {
    const body = { description: "two\nlines", metadata: { "": "x" } };
    const rest = await service().rest("POST", `/transactions/${newTransactionId()}/reverse`, { body });
    expect(problemOf(rest)).to.deep.equal({
      status: 400,
      code: "INVALID_FIELD",
      fields: ["description", "metadata"],
    });
  });

  it("takes no idempotency key of another call for its own, and its own for no other", async () => {
    const account_id = await newAccount(service(), "20.00");
    const minted = await move(service(), "mint", account_id, "5.00");
    const headers = { "idempotency-key": fresh("mixed") };
    expect((await service().rest("POST", pathOf(minted), { headers })).status).to.equal(201);
    // The redemption has the account, the amount and the description of the reversal.
    const body = { account_id, amount: "5.00", reference: fresh("mixed") };
    const redeemed = await service().rest("POST", "/transactions/redeem", { headers, body });
    expect(problemOf(redeemed)).to.include({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    const other = await move(service(), "mint", account_id, "5.00");
    const reused = await service().rest("POST", pathOf(other), { headers });
    expect(problemOf(reused)).to.include({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    expect(await availableOf(service(), account_id)).to.equal("25.00");
  });
});

describeEachEngine("the balance after a transaction", (service) => {
  it("is that after its own posting, in the response, in a batch, in a repeat and in each list", async () => {
    const account_id = await newAccount(service());
    const mint = { account_id, amount: "10.00", reference: fresh("first") };
    const first = await service().rest("POST", "/transactions/mint", { body: mint });
    expect(first.text).to.include('"available_balance_after":10.00');
    const requests = [
      { redeem: { account_id, amount: "2.50", reference: fresh("second") } },
      { mint: { account_id, amount: "0.05", reference: fresh("third") } },
    ];
    const batch = await service().rest("POST", "/transactions/batch", { body: { requests } });
    const after = (batch.json["results"] as { transaction: TransactionJson }[]).map(
      ({ transaction }) => transaction["available_balance_after"],
    );
    expect(after).to.deep.equal([7.5, 7.55]);

    const again = await service().rest("POST", "/transactions/mint", { body: mint });
    expect(again.text).to.equal(first.text);
    const third = requests[1]?.mint?.reference ?? "";
    for (const [query, expected] of [
      [`account_id=${account_id}`, ["7.55", "7.50", "10.00"]],
      [`account_id=${account_id}&type=mint`, ["7.55", "10.00"]],
      [`account_id=${account_id}&statuses=completed&type=redeem`, ["7.50"]],
      [`reference=${third}`, ["7.55"]],
      ["type=mint&page_size=1", ["7.55"]],
      ["type=mint&statuses=completed&page_size=1", ["7.55"]],
      ["page_size=3", ["7.55", "7.50", "10.00"]],
    ] as const) {
      const { text } = await service().rest("GET", `/transactions?${query}`);
      const shown = [...text.matchAll(/"available_balance_after":([0-9.]+)/g)].map(([, digits]) => digits);
      expect(shown, query).to.deep.equal(expected);
    }
  });
});
