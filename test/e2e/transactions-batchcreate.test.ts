import { expect } from "chai";

import type { RestCall, RestReply } from "../support/callers/rest-caller.js";
import { availableOf, describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

interface Result {
  readonly transaction: { readonly id: string; readonly reference: string } | null;
  readonly error: { readonly code: string; readonly status: number; readonly errors?: { field: string }[] } | null;
  readonly replayed: boolean;
}

describeEachEngine("BatchCreateTransactions", (service) => {
  const batch = (requests: unknown, call: RestCall = {}): Promise<RestReply> =>
    service().rest("POST", "/transactions/batch", { body: { requests } as object, ...call });
  const resultsOf = ({ json }: RestReply): Result[] => json["results"] as Result[];
  const words = (answer: RestReply): string[] =>
    resultsOf(answer).map(({ error, replayed }) => error?.code ?? (replayed ? "replayed" : "done"));

  it("returns the outcome of each request in order, and each sees the effects of those before it", async () => {
    const [id, frozen] = [await newAccount(service()), await newAccount(service(), "9.00")];
    await service().rest("POST", `/accounts/${frozen}/freeze`, { body: { reason: "fraud" } });
    const [salary, taken] = [fresh("salary"), fresh("taken")];
    const answer = await batch([
      { redeem: { account_id: id, amount: 1, reference: fresh("early") } },
      { mint: { account_id: id, amount: 10, reference: salary, description: "March", metadata: { till: "7" } } },
      { redeem: { account_id: id, amount: "2.50", reference: taken } },
      { mint: { account_id: id, amount: 10, reference: salary, description: "March", metadata: { till: "7" } } },
      { mint: { account_id: id, amount: 11, reference: salary } },
      { mint: { account_id: frozen, amount: 1, reference: fresh("cold") } },
      { mint: { account_id: "acc_01jd2r6p5vf8ksw3xhb1z7q4ye", amount: 1, reference: fresh("nobody") } },
    ]);
    expect(answer.status).to.equal(200);
    expect(words(answer)).to.deep.equal([
      "INSUFFICIENT_FUNDS",
      "done",
      "done",
      "replayed",
      "REFERENCE_ALREADY_USED",
      "ACCOUNT_FROZEN",
      "ACCOUNT_NOT_FOUND",
    ]);
    const [poor, minted, , again] = resultsOf(answer);
    expect(poor).to.deep.include({ transaction: null, replayed: false });
    expect(poor?.error).to.deep.include({
      type: "/errors/insufficient-funds",
      title: "Insufficient funds",
      status: 422,
      available: 0,
      requested: 1,
    });
    expect(answer.text).to.include('"available":0.00,"requested":1.00');
    expect(minted?.transaction).to.deep.include({ reference: salary, description: "March", metadata: { till: "7" } });
    expect(again?.transaction).to.deep.equal(minted?.transaction);
    expect(await availableOf(service(), id)).to.equal("7.50");
  });

  it("replays a whole call that is repeated, even many times at once", async () => {
    const account_id = await newAccount(service());
    const requests = Array.from({ length: 100 }, () => ({
      mint: { account_id, amount: "1.00", reference: fresh("many") },
    }));
    const answers = await Promise.all(Array.from({ length: 5 }, () => batch(requests)));
    const ids = answers.map((answer) => resultsOf(answer).map(({ transaction }) => transaction?.id));
    expect(ids).to.deep.equal(Array(5).fill(ids[0]));
    expect(new Set(ids[0]).size).to.equal(100);
    expect(answers.flatMap(words).filter((word) => word === "done")).to.have.lengthOf(100);
    expect(await availableOf(service(), account_id)).to.equal("100.00");
  });

  it("takes an idempotency key for each request, which guards it as it guards the single call", async () => {
    const account_id = await newAccount(service());
    const [key, other] = [fresh("key"), fresh("key")];
    const mint = (amount: number, reference = fresh("new")): object => ({ account_id, amount, reference });
    const [once, thrice] = [mint(1), mint(3)];
    const first = await batch([
      { mint: once, idempotency_key: key },
      { mint: once, idempotency_key: key },
      { mint: mint(1), idempotency_key: key },
      { mint: thrice, idempotency_key: other },
      { mint: mint(4) },
    ]);
    expect(words(first)).to.deep.equal(["done", "replayed", "IDEMPOTENCY_KEY_REUSED", "done", "done"]);
    const [minted, again] = resultsOf(first);
    expect(again?.transaction).to.deep.equal(minted?.transaction);
    const alone = await service().rest("POST", "/transactions/mint", {
      body: thrice,
      headers: { "idempotency-key": other },
    });
    expect(alone).to.deep.include({ status: 200 });
    expect(words(await batch([{ mint: thrice, idempotency_key: other }]))).to.deep.equal(["replayed"]);
    expect(await availableOf(service(), account_id)).to.equal("8.00");
  });

  it("takes a larger body than any other route", async () => {
    const account_id = await newAccount(service());
    const description = "d".repeat(256);
    const metadata = Object.fromEntries(Array.from({ length: 5 }, (_, key) => [`key-${String(key)}`, "v".repeat(75)]));
    const requests = Array.from({ length: 1_000 }, () => ({
      mint: { account_id, amount: "1.00", reference: fresh("large"), description, metadata },
    }));
    const text = JSON.stringify({ requests });
    expect(Buffer.byteLength(text)).to.be.within(800_000, 1_048_576);
    expect(words(await batch([], { body: text }))).to.deep.equal(Array(1_000).fill("done"));
    const single = await service().rest("POST", "/transactions/mint", { body: text });
    expect(problemOf(single)).to.include({ status: 413, code: "BODY_TOO_LARGE" });
    const tooLarge = await batch([], { body: text + " ".repeat(1_048_576) });
    expect(problemOf(tooLarge)).to.include({ status: 413, code: "BODY_TOO_LARGE" });
  });
});
