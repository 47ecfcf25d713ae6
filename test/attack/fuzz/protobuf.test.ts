import type { JsonObject } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import fc from "fast-check";

import { jsonMethod, ROUTES } from "../../support/callers/contract-requests.js";
import { type InProcess, startInProcess } from "../../support/service/in-process.js";
import { textsIn } from "./checks/protobuf-records.js";
import { expectBooks, expectNoPollution, expectSaid } from "./checks/what-was-said.js";
import { givenThings } from "./given-things.js";
import { requestBytesOf } from "./inputs/protobuf-bytes.js";
import type { Known } from "./inputs/values.js";
import { PROPERTY_MILLIS_MAX, runs } from "./runs.js";

const RUNS = 20;

// These are neither a bug nor a hang. RESOURCE_EXHAUSTED is for requests that are larger than the
// server takes.
const ANSWERS = [
  "OK",
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "FAILED_PRECONDITION",
  "ALREADY_EXISTS",
  "RESOURCE_EXHAUSTED",
  "ABORTED",
];

describe("fuzz: protobuf", function () {
  this.timeout(PROPERTY_MILLIS_MAX);
  let service: InProcess;
  let known: Known;
  const met = new Set<string>();

  before(async () => {
    service = await startInProcess("sqlite");
    known = await givenThings(service);
  });
  after(() => service.dispose());

  for (const { rpc, method, responseField, isPublic } of ROUTES.filter(({ stream }) => stream === undefined)) {
    it(`${rpc.path} survives any request, does what its response says, and nothing when it refuses`, async () => {
      const check = async (bytes: Uint8Array): Promise<void> => {
        const before = await service.books();
        const { key } = service.a;
        const { code, message, replayed, response } = await service.grpc.call(jsonMethod(rpc), bytes, { key });
        const status = Status[code] ?? "none";
        met.add(status);
        expect(ANSWERS, message).to.include(status);
        const resource =
          responseField === undefined ? undefined : (response?.[responseField.name] as JsonObject | undefined);
        const results = response?.["results"] as JsonObject[] | undefined;
        const came = { accepted: code === 0, replayed, resource, results };
        expectBooks(before, await service.books(), came, method !== "GET" && !isPublic);
        if (resource !== undefined) expectSaid(textsIn(rpc.input, bytes), resource);
      };
      await fc.assert(fc.asyncProperty(requestBytesOf(rpc.input, known), check), runs(RUNS));
      expectNoPollution();
    });
  }

  it("met the responses that it looks for", () => {
    expect([...met]).to.include.members(ANSWERS.slice(0, 4));
  });
});
