import { toBinary } from "@bufbuild/protobuf";
import { expect } from "chai";

import { CallableContract } from "../../../src/cli/call/contract.js";

describe("the contract that kesc call reads", () => {
  const contract = new CallableContract();
  const mint = contract.method("kesc.v1.TransactionService/Mint");

  it("finds a method by its full name, or by an end that only one method has", () => {
    for (const name of ["Mint", "TransactionService/Mint", "/kesc.v1.TransactionService/Mint"]) {
      expect(contract.method(name), name).to.equal(mint);
    }
    expect(contract.methodNames)
      .to.include("grpc.health.v1.Health/Check")
      .and.include("kesc.v1.AccountService/GetAccount");
  });

  for (const [name, words] of [
    [
      "kesc.v1.TransactionService/Mnt",
      "There is no method kesc.v1.TransactionService/Mnt. Near names:\n  kesc.v1.TransactionService/Mint\n",
    ],
    ["getaccounts", "There is no method getaccounts. Near names:\n  kesc.v1.AccountService/GetAccount\n"],
    ["ServerReflectionInfo", "Several methods end with ServerReflectionInfo:\n  grpc.reflection.v1.ServerReflection/"],
  ] as const) {
    it(`lists near names for ${name}`, () => {
      expect(() => contract.method(name))
        .to.throw(words)
        .with.property("exitCode", 2);
    });
  }

  it("names all bad fields of a request, and refuses what is not JSON", () => {
    const bad = JSON.stringify({ amout: "1.00", metadata: { till: 4 }, reference: 7 });
    expect(() => contract.readRequest(mint, bad)).to.throw(
      "The request is invalid. Nothing was sent.\n  amout is not a field of this request (did you mean amount?)\n" +
        "  metadata.till must be a string\n  reference must be a string",
    );
    expect(() => contract.readRequest(mint, "{")).to.throw(/^The request is not JSON: /);
  });

  it("reads an amount from a number or a string, and writes it as a string", () => {
    expect(contract.readRequest(mint, '{"amount": 10.10}')).to.include({ amount: "10.1" });
    expect(contract.readRequest(mint, '{"amount": "10.10"}')).to.include({ amount: "10.10" });
    const reader = contract.reader({ ...mint, input: mint.output });
    const created = "2026-11-20T09:36:00.123Z";
    reader.readObject({ transaction: { amount: "10.10", type: "mint", created_at: created } });
    const { transaction } = JSON.parse(contract.writeResponse(mint, toBinary(mint.output, reader.message))) as {
      transaction: object;
    };
    expect(transaction).to.include({ amount: "10.10", type: "mint", status: "unspecified", created_at: created });
  });
});
