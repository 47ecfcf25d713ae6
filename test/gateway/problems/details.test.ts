import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import {
  bodyTooLarge,
  internalProblem,
  methodNotAllowed,
  noSuchRoute,
  type Problem,
  queueFull,
} from "../../../gateway/problems/problem.js";
import { problemOf, type Refusal } from "../../../gateway/problems/upstream-refusal.js";
import { messageOf } from "../../../src/grpc/errors/status.js";
import { expectDetail, expectShortSentences } from "../../support/callers/style.js";

const fromConnection = (grpcCode: status, mayWrite?: boolean): Problem =>
  problemOf(
    { grpcCode, text: "", info: undefined, errors: [], retryAfterSeconds: undefined } satisfies Refusal,
    mayWrite,
  );

describe("the detail of a problem of the gateway", () => {
  for (const [name, problem] of [
    ["a large body", bodyTooLarge(4_096)],
    ["an unknown path", noSuchRoute()],
    ["a wrong method", methodNotAllowed("GET, HEAD")],
    ["a full queue", queueFull()],
    ["a bug", internalProblem()],
    ["an unreachable server", fromConnection(status.UNAVAILABLE)],
    ["a deadline", fromConnection(status.DEADLINE_EXCEEDED)],
    ["a deadline of a read", fromConnection(status.DEADLINE_EXCEEDED, false)],
  ] as const) {
    it(`is of short sentences for ${name}`, () => {
      expectDetail(problem.detail);
      expectShortSentences(problem.detail);
    });
  }

  it("has the words of the server for the same reason", () => {
    expect(queueFull().detail).to.equal(messageOf({ reason: "QUEUE_FULL" }));
    const internal = messageOf({ reason: "INTERNAL", requestId: "r-1" });
    expect(internal.replace(" r-1.", ".")).to.equal(internalProblem().detail);
  });
});
