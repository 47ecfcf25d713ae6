import { expect } from "chai";

import { availableOf, describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("Mint", (service) => {
  it("credits the account, and returns the transaction", async () => {
    const id = await newAccount(service());
    const reference = fresh("mpesa");
    const minted = await service().rest("POST", "/transactions/mint", {
      body: `{"account_id":"${id}","amount":1000.00,"reference":"${reference}","description":"salary","metadata":{"till":"7"}}`,
    });
    expect(minted.status).to.equal(201);
    expect(minted.text).to.include('"amount":1000.00');
    expect(minted.json).to.deep.include({
      account_id: id,
      type: "mint",
      status: "completed",
      reference,
      description: "salary",
      metadata: { till: "7" },
      rail: "direct",
    });
    expect(minted.headers["location"]).to.equal(`/transactions/${String(minted.json["id"])}`);
    expect(await availableOf(service(), id)).to.equal("1000.00");
  });

  it("credits over gRPC to the cent", async () => {
    const id = await newAccount(service());
    for (const amount of ["0.01", "0.1", "33.33", "9999999999966.55"]) {
      const minted = await service().grpc.call("Mint", { account_id: id, amount, reference: fresh("cents") });
      expect(minted.response["transaction"]).to.include({ status: "TRANSACTION_STATUS_COMPLETED" });
    }
    expect(await availableOf(service(), id)).to.equal("9999999999999.99");
    const full = { account_id: id, amount: "0.01", reference: fresh("full") };
    const grpc = await service().grpc.call("Mint", full);
    expect(grpc).to.include({ code: 9, reason: "LIMIT_EXCEEDED" });
    const rest = await service().rest("POST", "/transactions/mint", { body: full });
    expect(problemOf(rest)).to.include({ status: 422, code: "LIMIT_EXCEEDED" });
    expect(rest.text).to.include('"max_amount":9999999999999.99');
  });

  it("replays the same reference and content, and refuses other content with the fields that differ", async () => {
    const id = await newAccount(service());
    const body = { account_id: id, amount: 5, reference: fresh("once") };
    const first = await service().rest("POST", "/transactions/mint", { body });
    const again = await service().rest("POST", "/transactions/mint", { body: { ...body, amount: "5.00" } });
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(again.headers["idempotent-replayed"]).to.equal("true");
    expect(again.text).to.equal(first.text);

    const other = await service().rest("POST", "/transactions/redeem", { body: { ...body, amount: 4 } });
    expect(problemOf(other)).to.include({ status: 409, code: "REFERENCE_ALREADY_USED" });
    expect(other.json).to.deep.include({ transaction_id: first.json["id"], differing_fields: ["type", "amount"] });
    expect(await availableOf(service(), id)).to.equal("5.00");
  });

  it("takes two references that differ in a letter for two payments, and returns each byte for byte", async () => {
    const id = await newAccount(service());
    const name = fresh("k");
    // NFKC and case folding make the same of all of them. They are for persons alone.
    for (const reference of [name, name.toUpperCase(), name.replace("k", "\u212A"), name.replace("k", "\uFF4B")]) {
      const metadata = { name: reference };
      const body = { account_id: id, amount: 1, reference, metadata };
      const minted = await service().rest("POST", "/transactions/mint", { body });
      expect([minted.status, minted.json["reference"], minted.json["metadata"]]).to.deep.equal([
        201,
        reference,
        metadata,
      ]);
    }
    expect(await availableOf(service(), id)).to.equal("4.00");
  });

  it("credits the shillings of a receipt once, under whatever reference, and shows the receipt", async () => {
    const [id, other] = [await newAccount(service()), await newAccount(service())];
    const receipt = { source: "mpesa", number: "NLJ7RT61SV" };
    const mint = (differing: object, path = "mint"): ReturnType<ReturnType<typeof service>["rest"]> =>
      service().rest("POST", `/transactions/${path}`, {
        body: { account_id: id, amount: 5, reference: fresh("receipt"), receipt, ...differing },
      });
    const minted = await mint({});
    expect(minted.json).to.deep.include({ status: "completed", receipt, rail_receipt: null });
    const again = await mint({ account_id: other });
    expect(problemOf(again)).to.include({ status: 409, code: "RECEIPT_ALREADY_USED" });
    expect(again.json).to.deep.include({ transaction_id: minted.json["id"], rail_receipt: "NLJ7RT61SV" });
    expect(problemOf(await mint({}, "redeem"))).to.include({ code: "RECEIPT_ALREADY_USED" });

    // A number that a rail has given counts under no other source.
    const alias = { source: "kcb-1234", number: "NLJ7RT61SV" };
    expect(problemOf(await mint({ receipt: alias, amount: 2 }, "redeem"))).to.include({ code: "RECEIPT_ALREADY_USED" });
    const bank = { source: "kcb-1234", number: "FT26333AB12" };
    const redeemed = await mint({ receipt: bank, amount: 2 }, "redeem");
    expect(redeemed.json).to.deep.include({ status: "completed", receipt: bank });
    const found = await service().rest("GET", "/transactions?receipt=kcb-1234:FT26333AB12");
    expect(found.json["transactions"]).to.deep.equal([redeemed.json]);
    expect([await availableOf(service(), id), await availableOf(service(), other)]).to.deep.equal(["3.00", "0.00"]);

    const bad = await mint({ receipt: { source: "mpesa", number: "nlj7" } });
    expect(problemOf(bad)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["receipt.number"] });
    const onRail = await mint({ rail: "sandbox", receipt: bank });
    expect(problemOf(onRail)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["receipt"] });
  });

  it("refuses a reference that is reserved, as Redeem does, and lists none", async () => {
    const id = await newAccount(service(), "5.00");
    const body = { account_id: id, amount: "1.00", reference: "kesc:x" };
    for (const way of ["mint", "redeem"]) {
      const rest = await service().rest("POST", `/transactions/${way}`, { body });
      expect(problemOf(rest)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["reference"] });
    }
    for (const way of ["Mint", "Redeem"]) {
      const grpc = await service().grpc.call(way, body);
      expect(grpc).to.include({ code: 3, reason: "INVALID_FIELD" });
      expect(grpc.fields).to.deep.equal([
        {
          field: "reference",
          message: 'must not begin with "kesc:": such references are reserved',
          code: "RESERVED",
        },
      ]);
    }
    const listed = await service().rest("GET", "/transactions?reference=kesc:x");
    expect(listed.json).to.deep.include({ transactions: [] });
    expect(await availableOf(service(), id)).to.equal("5.00");
  });

  it("names the pair of the metadata that is wrong", async () => {
    const body = {
      account_id: await newAccount(service()),
      amount: "1.00",
      reference: "x",
      metadata: { till: "a\tb" },
    };
    const rest = await service().rest("POST", "/transactions/mint", { body });
    expect(problemOf(rest)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["metadata.till"] });
  });

  it("replays a repeat of an idempotency key, and refuses it with another amount or another reference", async () => {
    const id = await newAccount(service());
    const metadata = { "idempotency-key": fresh("key") };
    const [october, november] = [fresh("salary-oct"), fresh("salary-nov")];
    const mint = (amount: string, reference: string): ReturnType<ReturnType<typeof service>["grpc"]["call"]> =>
      service().grpc.call("Mint", { account_id: id, amount, reference }, { metadata });
    const [first, again] = [await mint("5.00", october), await mint("5.00", october)];
    expect(again.response).to.deep.equal(first.response);
    expect(again.replayed).to.equal(true);
    for (const other of [await mint("6.00", october), await mint("5.00", november)]) {
      expect(other).to.include({ code: 9, reason: "IDEMPOTENCY_KEY_REUSED" });
    }
    expect(await availableOf(service(), id)).to.equal("5.00");
  });
});
