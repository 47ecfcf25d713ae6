import { readFileSync } from "node:fs";

import { expect } from "chai";

import { CONTRACT_URL, readContract } from "../../contract/contract.js";
import { TOY_RPCS, type ToyRpc, toysContract } from "../support/gateway/toys-contract.js";

describe("the batch rpc of an rpc", () => {
  it("is found under the name that the option batched_by gives", () => {
    const { routes } = readContract(readFileSync(CONTRACT_URL));
    const batched = routes.filter(({ rpc }) => rpc.batching !== undefined);
    expect(batched.map(({ rpc }) => [rpc.path, rpc.batching?.batchRpc.path])).to.deep.equal([
      ["/kesc.v1.TransactionService/Mint", "/kesc.v1.TransactionService/BatchCreateTransactions"],
      ["/kesc.v1.TransactionService/Redeem", "/kesc.v1.TransactionService/BatchCreateTransactions"],
    ]);
  });

  const find = { name: "FindToy", input: "FindToyRequest", output: "FindToyResponse", http: { get: "/toys/{name}" } };
  const many = TOY_RPCS.find(({ name }) => name === "FindMany") ?? expect.fail("there is no FindMany");
  for (const [name, single, batch, problem] of [
    ["does not exist", { batchedBy: "FindAll" }, {}, "has no unary rpc FindAll"],
    ["is a stream", {}, { streams: true }, "has no unary rpc FindMany"],
    [
      "takes more than one list",
      {},
      { input: "BuildToyRequest" },
      "BuildToyRequest must have one field, which holds messages",
    ],
    [
      "does not take the requests of the rpc",
      { input: "FindToysRequest", http: { get: "/toys/{box}" } },
      {},
      "toys.v1.Search has no oneof with toys.v1.FindToysRequest",
    ],
    [
      "has no field for the idempotency key of each request",
      {},
      { input: "FindUnkeyedRequest" },
      "toys.v1.UnkeyedSearch has no string field idempotency_key",
    ],
    [
      "has a number for the idempotency key of each request",
      {},
      { input: "FindNumberedRequest" },
      "toys.v1.NumberedSearch has no string field idempotency_key",
    ],
    [
      "takes requests that have a field of that name themselves",
      { input: "FindKeyedToyRequest" },
      { input: "FindKeyedRequest" },
      "toys.v1.FindKeyedToyRequest must not have a field idempotency_key",
    ],
    ["returns more than one list", {}, { output: "Toy" }, "Toy must have one field, which holds messages"],
    ["returns no refusals", {}, { output: "FindToysResponse" }, "toys.v1.Toy has no oneof with"],
    [
      "is named by an rpc that returns more than one resource",
      { output: "Toy" },
      {},
      "toys.v1.Toy must have one field, which holds a message",
    ],
  ] satisfies [string, Partial<ToyRpc>, Partial<ToyRpc>, string][]) {
    it(`is refused at the start when it ${name}, with the name of the rpc`, () => {
      const rpcs = [
        { ...find, batchedBy: "FindMany", ...single },
        { ...many, ...batch },
      ];
      expect(() => readContract(toysContract(rpcs)))
        .to.throw(problem)
        .with.property("message")
        .that.includes("toys.v1.ToyService/FindToy");
    });
  }
});
