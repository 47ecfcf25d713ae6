import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect } from "chai";

import { readContract } from "../../../src/grpc/messages/contract.js";

describe("grpc: the contract", () => {
  it("says which rpcs stream, and which take many at once", () => {
    const rpcs = readContract().services.flatMap((service) => service.rpcs);
    expect(rpcs.filter(({ streams }) => streams !== "none").map(({ name, streams }) => [name, streams])).to.deep.equal([
      ["BookService/ExportStatement", "server"],
      ["BookService/ExportJournal", "server"],
      ["BookService/ExportGeneralLedger", "server"],
      ["EventService/WatchEvents", "server"],
      ["TransactionService/ImportTransactions", "both"],
    ]);
    expect(rpcs.filter(({ bulk }) => bulk).map(({ name }) => name)).to.deep.equal([
      "TransactionService/BatchCreateTransactions",
      "TransactionService/ImportTransactions",
    ]);
  });

  it("says which rpcs take an idempotency key", () => {
    const rpcs = readContract().services.flatMap((service) => service.rpcs);
    expect(rpcs.filter(({ idempotencyKey }) => idempotencyKey === "taken").map(({ name }) => name)).to.have.members([
      "AccountService/CreateAccount",
      "AccountService/FreezeAccount",
      "AccountService/CreateDestination",
      "SandboxService/CreateDeposit",
      "TransactionService/Mint",
      "TransactionService/Redeem",
      "TransactionService/ReverseTransaction",
      "WebhookService/CreateWebhookEndpoint",
      "WebhookService/RotateWebhookSecret",
    ]);
  });

  it("says which rpcs need no key, and which take any key", () => {
    const rpcs = readContract().services.flatMap((service) => service.rpcs);
    const namesOf = (all: typeof rpcs) => all.map(({ name }) => name);
    expect(namesOf(rpcs.filter(({ isPublic }) => isPublic))).to.deep.equal(["RailService/ReceiveCallback"]);
    const scopeless = rpcs.filter(({ isPublic, requiredScope }) => !isPublic && requiredScope === undefined);
    expect(namesOf(scopeless)).to.deep.equal(["OrganizationService/GetOrganization"]);
  });

  it("can't be served when an rpc names no scope, and is not public", () => {
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
