import { readFileSync } from "node:fs";

import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import { CONTRACT_URL, messageOf, readContract } from "../../../contract/contract.js";
import type { RpcStatus } from "../../../contract/rpc.js";
import type { Problem } from "../../../gateway/problems/problem.js";
import { itemProblemJson, problemOf, refusalReader } from "../../../gateway/problems/upstream-refusal.js";

const { registry } = readContract(readFileSync(CONTRACT_URL));
const readRefusal = refusalReader(registry);

function rpcStatus(code: status, message: string, details: readonly JsonValue[]): RpcStatus {
  const desc = messageOf(registry, "google.rpc.Status");
  return fromJson(desc, { code, message, details: [...details] }, { registry }) as unknown as RpcStatus;
}

function errorInfo(reason: string, metadata: Readonly<Record<string, string>> = {}): JsonValue {
  return { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "kesc", metadata };
}

function badRequest(
  ...violations: readonly (readonly [field: string, description: string, reason: string])[]
): JsonValue {
  const fieldViolations = violations.map(([field, description, reason]) => ({ field, description, reason }));
  return { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations };
}

function retryInfo(retryDelay: string): JsonValue {
  return { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay };
}

function problem(code: status, message: string, ...details: JsonValue[]): Problem {
  return problemOf(readRefusal({ status: rpcStatus(code, message, details) }));
}

const INTERNAL_DETAIL = "An internal error occurred. The operator finds its cause in the log by the request id.";

describe("a refusal of the server", () => {
  for (const [code, httpStatus] of [
    [status.INVALID_ARGUMENT, 400],
    [status.OUT_OF_RANGE, 400],
    [status.UNAUTHENTICATED, 401],
    [status.PERMISSION_DENIED, 403],
    [status.NOT_FOUND, 404],
    [status.ALREADY_EXISTS, 409],
    [status.ABORTED, 412],
    [status.FAILED_PRECONDITION, 422],
    [status.RESOURCE_EXHAUSTED, 429],
    [status.CANCELLED, 499],
    [status.UNIMPLEMENTED, 501],
    [status.UNAVAILABLE, 503],
    [status.DEADLINE_EXCEEDED, 504],
  ] as const) {
    it(`with ${status[code]} becomes ${String(httpStatus)}, with the server's reason, text and facts`, () => {
      expect(problem(code, "Words.", errorInfo("SOME_REASON", { box: "big" }))).to.deep.include({
        status: httpStatus,
        code: "SOME_REASON",
        detail: "Words.",
        facts: new Map([["box", '"big"']]),
      });
    });
  }

  for (const code of [status.INTERNAL, status.UNKNOWN, status.DATA_LOSS]) {
    it(`with ${status[code]} becomes INTERNAL, without the server's reason, text and facts`, () => {
      expect(problem(code, "SQL", errorInfo("BUG", { table: "accounts" }))).to.deep.equal({
        status: 500,
        code: "INTERNAL",
        detail: INTERNAL_DETAIL,
      });
    });
  }

  it("shows a fact as the contract says: a list as an array, a number as it is written, and text as text", () => {
    const facts = {
      differing_fields: "type,amount",
      available: "10.50",
      account_id: "10.50",
      box: "1,2",
      limit: "much",
    };
    expect(problem(status.FAILED_PRECONDITION, "", errorInfo("TOO_FEW", facts)).facts).to.deep.equal(
      new Map([
        ["differing_fields", '["type","amount"]'],
        ["available", "10.50"],
        ["account_id", '"10.50"'],
        ["box", '"1,2"'],
        ["limit", '"much"'],
      ]),
    );
  });

  it("names every bad field, in a text that is composed of them", () => {
    const violations = badRequest(["amount", "is required", "REQUIRED"], ["reference", "is too long", "TOO_LONG"]);
    const refused = problem(status.INVALID_ARGUMENT, "Bad.", errorInfo("INVALID_FIELD"), violations);
    expect(refused).to.deep.include({
      status: 400,
      code: "INVALID_FIELD",
      detail: "Invalid request: amount is required; reference is too long.",
      errors: [
        { field: "amount", code: "REQUIRED", message: "is required" },
        { field: "reference", code: "TOO_LONG", message: "is too long" },
      ],
    });
  });

  it("of an item of a batch names the header in place of the field that carried it, and nothing else", () => {
    const violations = badRequest(["my_key", "must not be my_key", "FORMAT"], ["my_key_2", "is required", "REQUIRED"]);
    const refusal = readRefusal({
      status: rpcStatus(status.INVALID_ARGUMENT, "my_key", [errorInfo("INVALID_FIELD"), violations]),
      headerByField: new Map([["my_key", "my-key"]]),
    });
    expect(problemOf(refusal)).to.deep.include({
      detail: "Invalid request: my-key must not be my_key; my_key_2 is required.",
      errors: [
        { field: "my-key", code: "FORMAT", message: "must not be my_key" },
        { field: "my_key_2", code: "REQUIRED", message: "is required" },
      ],
    });
  });

  it("for a missing or bad key has a WWW-Authenticate without the server's text", () => {
    const { headers } = problem(status.UNAUTHENTICATED, "secret", errorInfo("INVALID_API_KEY"));
    expect(headers).to.deep.equal({ "WWW-Authenticate": 'Bearer realm="kesc"' });
  });

  for (const [retryDelay, seconds] of [
    ["3s", "3"],
    ["1.2s", "2"],
    ["0.05s", "1"],
    ["0s", "1"],
  ] as const) {
    it(`to be retried after ${retryDelay} has a Retry-After of ${seconds} whole seconds`, () => {
      const { headers } = problem(status.RESOURCE_EXHAUSTED, "", errorInfo("QUEUE_FULL"), retryInfo(retryDelay));
      expect(headers).to.deep.equal({ "Retry-After": seconds });
    });
  }

  for (const [code, httpStatus, problemCode, headers] of [
    [status.UNAVAILABLE, 503, "SERVER_UNREACHABLE", { "Retry-After": "1" }],
    [status.DEADLINE_EXCEEDED, 504, "OUTCOME_UNKNOWN", undefined],
    [status.UNIMPLEMENTED, 500, "INTERNAL", undefined],
    [status.RESOURCE_EXHAUSTED, 429, "QUEUE_FULL", { "Retry-After": "1" }],
    [status.UNAUTHENTICATED, 500, "INTERNAL", undefined],
    [status.UNKNOWN, 500, "INTERNAL", undefined],
  ] as const) {
    it(`with ${status[code]} and no reason becomes ${problemCode}, without the text of the connection`, () => {
      const refused = problem(code, "from inside");
      expect([refused.status, refused.code, refused.headers]).to.deep.equal([httpStatus, problemCode, headers]);
      expect(refused.detail).not.to.include("from inside");
    });
  }
});

describe("the refusal of an item, inside a response", () => {
  for (const [name, code, details, members] of [
    [
      "has the members of a problem",
      status.FAILED_PRECONDITION,
      [errorInfo("TOO_FEW", { available: "1.00" })],
      '"title":"Too few","status":422,"detail":"Words.","code":"TOO_FEW","available":1.00}',
    ],
    [
      "has its Retry-After as a member",
      status.RESOURCE_EXHAUSTED,
      [errorInfo("FULL"), retryInfo("1.2s")],
      '"title":"Full","status":429,"detail":"Words.","code":"FULL","retry_after":2}',
    ],
    [
      "by a bug has the request id, and nothing else of the server",
      status.INTERNAL,
      [errorInfo("INTERNAL", { request_id: "r1", table: "toys" })],
      `"title":"Internal","status":500,"detail":"${INTERNAL_DETAIL}","code":"INTERNAL","request_id":"r1"}`,
    ],
  ] as const) {
    it(name, () => {
      const text = itemProblemJson(readRefusal({ status: rpcStatus(code, "Words.", details) }));
      expect(text.slice(text.indexOf('"title"'))).to.equal(members);
    });
  }
});
