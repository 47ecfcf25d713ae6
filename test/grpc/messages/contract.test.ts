import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect } from "chai";

import { readContract } from "../../../src/grpc/messages/contract.js";

describe("grpc: the contract", () => {
  it("names the scope of each rpc", () => {
    const { services } = readContract();
    expect(services.flatMap(({ rpcs }) => rpcs).map(({ path, requiredScope }) => [path, requiredScope])).to.deep.equal([
      ["/kesc.v1.AccountService/CreateAccount", "accounts:write"],
      ["/kesc.v1.AccountService/GetAccount", "accounts:read"],
      ["/kesc.v1.AccountService/ListAccounts", "accounts:read"],
      ["/kesc.v1.AccountService/FreezeAccount", "accounts:write"],
      ["/kesc.v1.AccountService/UnfreezeAccount", "accounts:write"],
      ["/kesc.v1.AccountService/CloseAccount", "accounts:write"],
      ["/kesc.v1.TransactionService/Mint", "transactions:write"],
      ["/kesc.v1.TransactionService/Redeem", "transactions:write"],
      ["/kesc.v1.TransactionService/BatchCreateTransactions", "transactions:write"],
      ["/kesc.v1.TransactionService/ImportTransactions", "transactions:write"],
      ["/kesc.v1.TransactionService/GetTransaction", "transactions:read"],
      ["/kesc.v1.TransactionService/ListTransactions", "transactions:read"],
      ["/kesc.v1.TransactionService/CancelTransaction", "transactions:write"],
    ]);
  });

  it("names the rpcs that stream, and those that take many requests", () => {
    const rpcs = readContract().services.flatMap((service) => service.rpcs);
    expect(rpcs.filter(({ streaming }) => streaming).map(({ name }) => name)).to.deep.equal([
      "TransactionService/ImportTransactions",
    ]);
    expect(rpcs.filter(({ bulk }) => bulk).map(({ name }) => name)).to.deep.equal([
      "TransactionService/BatchCreateTransactions",
      "TransactionService/ImportTransactions",
    ]);
  });

  it("can't be served when an rpc names no scope", () => {
    const file = {
      name: "x.proto",
      package: "kesc.v1",
      syntax: "proto3",
      messageType: [{ name: "Empty" }],
      service: [{ name: "Loose", method: [{ name: "Do", inputType: ".kesc.v1.Empty", outputType: ".kesc.v1.Empty" }] }],
    };
    const bytes = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: [file] }));
    expect(() => readContract(bytes)).to.throw("kesc.v1.Loose.Do: the option kesc.v1.required_scope must be one of");
  });
});
