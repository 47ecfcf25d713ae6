import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import {
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionService,
} from "../../../src/gen/grpc/reflection/v1/reflection.js";
import { readContract } from "../../../src/grpc/messages/contract.js";
import { Reflection } from "../../../src/grpc/standard/reflection-index.js";
import type { Method } from "../../support/callers/grpc-caller.js";
import { eventually } from "../../support/eventually.js";
import { serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

type Question = ServerReflectionRequest["message_request"];

describe("grpc: reflection", () => {
  let under: ServerUnderTest;
  before(async () => {
    under = await serve();
  });
  after(() => under.close());

  function reflection(version: string): Method<ServerReflectionRequest, ServerReflectionResponse> {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    return { ...ServerReflectionService.serverReflectionInfo, path };
  }

  /** Asks all questions on one stream. */
  async function ask(version: string, questions: Question[]): Promise<ServerReflectionResponse["message_response"][]> {
    const stream = under.grpc.open(reflection(version), { key: "" });
    for (const message_request of questions) stream.send({ host: "", message_request });
    stream.end();
    expect((await stream.ended).code).to.equal(Status.OK);
    return stream.responses.map(({ message_response }) => message_response);
  }

  async function filesFor(question: Question): Promise<string[]> {
    const [answer] = await ask("v1", [question]);
    if (answer?.$case !== "file_descriptor_response") return [answer?.$case ?? "nothing"];
    return answer.value.file_descriptor_proto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
  }

  for (const version of ["v1", "v1alpha"]) {
    it(`lists every service, and no other, as ${version}`, async () => {
      const [answer] = await ask(version, [{ $case: "list_services", value: "*" }]);
      expect(answer).to.deep.equal({
        $case: "list_services_response",
        value: {
          service: [
            ...readContract().services.map(({ name }) => ({ name })),
            { name: "grpc.health.v1.Health" },
            { name: "grpc.reflection.v1.ServerReflection" },
            { name: "grpc.reflection.v1alpha.ServerReflection" },
          ],
        },
      });
    });

    it(`responds to a hundred questions on one stream in order, as ${version}`, async () => {
      const questions = Array.from({ length: 50 }, (): Question[] => [
        { $case: "file_containing_symbol", value: "kesc.v1.AccountService" },
        { $case: "file_containing_symbol", value: "kesc.v1.Nothing" },
      ]).flat();
      const answers = await ask(version, questions);
      expect(answers.map((answer) => answer?.$case)).to.deep.equal(
        questions.map((_, index) => (index % 2 === 0 ? "file_descriptor_response" : "error_response")),
      );
    });
  }

  it("returns a file with all its imports, each once", async () => {
    const names = await filesFor({ $case: "file_by_filename", value: "kesc/v1/account_service.proto" });
    expect(names).to.have.members([
      "kesc/v1/account_service.proto",
      "kesc/v1/destination.proto",
      "google/api/annotations.proto",
      "google/api/http.proto",
      "google/protobuf/descriptor.proto",
      "google/api/field_behavior.proto",
      "kesc/v1/account.proto",
      "kesc/v1/freeze.proto",
      "google/protobuf/timestamp.proto",
      "kesc/v1/options.proto",
      "kesc/v1/payment.proto",
    ]);
    expect(names[0]).to.equal("kesc/v1/account_service.proto");
  });

  for (const [symbol, file] of [
    ["kesc.v1.TransactionService", "kesc/v1/transaction_service.proto"],
    ["kesc.v1.TransactionService.Mint", "kesc/v1/transaction_service.proto"],
    ["kesc.v1.MintRequest", "kesc/v1/transaction_service.proto"],
    ["kesc.v1.MintRequest.MetadataEntry", "kesc/v1/transaction_service.proto"],
    ["kesc.v1.MintRequest.amount", "kesc/v1/transaction_service.proto"],
    ["kesc.v1.AccountStatus", "kesc/v1/account.proto"],
    ["kesc.v1.ACCOUNT_STATUS_FROZEN", "kesc/v1/account.proto"],
    ["kesc.v1.ErrorReason", "kesc/v1/errors.proto"],
    ["kesc.v1.required_scope", "kesc/v1/options.proto"],
    ["google.rpc.ErrorInfo", "google/rpc/error_details.proto"],
    ["google.rpc.BadRequest.FieldViolation", "google/rpc/error_details.proto"],
    ["google.api.HttpRule.pattern", "google/api/http.proto"],
    ["grpc.health.v1.Health.Watch", "health/v1/health.proto"],
    ["grpc.reflection.v1.ServerReflection", "grpc/reflection/v1/reflection.proto"],
    ["grpc.reflection.v1alpha.ServerReflection", "grpc/reflection/v1alpha/reflection.proto"],
  ] as const) {
    it(`knows where ${symbol} is`, async () => {
      expect((await filesFor({ $case: "file_containing_symbol", value: symbol }))[0]).to.equal(file);
    });
  }

  it("knows the extensions of a message", async () => {
    const containing_type = "google.protobuf.MethodOptions";
    const [file] = await filesFor({
      $case: "file_containing_extension",
      value: { containing_type, extension_number: 50_001 },
    });
    expect(file).to.equal("kesc/v1/options.proto");
    const [numbers] = await ask("v1", [{ $case: "all_extension_numbers_of_type", value: containing_type }]);
    if (numbers?.$case !== "all_extension_numbers_response") throw new Error("no numbers");
    expect(numbers.value.base_type_name).to.equal(containing_type);
    expect(numbers.value.extension_number).to.have.members([
      72_295_728, 50_001, 50_002, 50_003, 50_004, 50_005, 50_006, 50_007, 50_008, 50_009, 50_010, 50_011, 50_012,
      50_013, 50_014, 50_015, 50_016,
    ]);
  });

  for (const [name, question, code] of [
    ["a file", { $case: "file_by_filename", value: "nothing.proto" }, Status.NOT_FOUND],
    ["a symbol", { $case: "file_containing_symbol", value: "kesc.v1.Nothing" }, Status.NOT_FOUND],
    [
      "an extension",
      { $case: "file_containing_extension", value: { containing_type: "kesc.v1.Account", extension_number: 1 } },
      Status.NOT_FOUND,
    ],
    ["a type to extend", { $case: "all_extension_numbers_of_type", value: "kesc.v1.Nothing" }, Status.NOT_FOUND],
    ["a question", undefined, Status.INVALID_ARGUMENT],
  ] as const) {
    it(`refuses ${name} that it does not know, and goes on`, async () => {
      const answers = await ask("v1", [question, { $case: "list_services", value: "" }]);
      expect(answers[0]?.$case === "error_response" ? answers[0].value.error_code : undefined).to.equal(code);
      expect(answers[1]?.$case).to.equal("list_services_response");
    });
  }

  it("buffers no responses for a client that does not read them", async () => {
    // The server runs in this process, so the answers that it makes can be counted.
    // eslint-disable-next-line @typescript-eslint/unbound-method -- It gets its `this` below.
    const made = Reflection.prototype.answer;
    let count = 0;
    Reflection.prototype.answer = function (this: Reflection, request) {
      count += 1;
      return made.call(this, request);
    };
    const stream = under.grpc.open(reflection("v1"), { key: "" });
    stream.pause();
    const message_request: Question = { $case: "file_containing_symbol", value: "kesc.v1.AccountService" };
    for (let sent = 0; sent < 3_000; sent += 1) stream.send({ host: "", message_request });
    await eventually(() => count > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    stream.cancel();
    Reflection.prototype.answer = made;
    // Every answer has more than 100 kB. The buffers of the connection hold a few.
    expect(count).to.be.within(1, 100);
  });
});
