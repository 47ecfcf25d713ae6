import { expect } from "chai";

import { readHeaders, validateOnly } from "../../../gateway/http/headers.js";

const TIMEOUT_MAX = 30_000;
const read = (headers: Record<string, string[]>) => {
  const raw = Object.entries(headers).flatMap(([name, values]) =>
    values.flatMap((value) => [name.toUpperCase(), value]),
  );
  return readHeaders(raw, { requestId: "request-1" }, TIMEOUT_MAX);
};

describe("the headers of a request", () => {
  it("reach the server only when they are on the list", () => {
    const { metadata, problems } = read({
      authorization: ["Bearer kesc_1"],
      "x-api-key": ["kesc_2"],
      "idempotency-key": ["again"],
      traceparent: ["00-1"],
      tracestate: ["a=1", "b=2"],
      "x-request-id": ["the gateway has decided already"],
      "kesc-validate-only": ["true"],
      "grpc-metadata-kesc-validate-only": ["true"],
      "kesc-peer-certificate": ["DNS:a"],
      "grpc-status": ["0"],
      cookie: ["a=b"],
      "x-forwarded-for": ["10.0.0.1"],
    });
    expect(problems).to.deep.equal([]);
    expect(metadata.getMap()).to.deep.equal({
      authorization: "Bearer kesc_1",
      "x-api-key": "kesc_2",
      "idempotency-key": "again",
      traceparent: "00-1",
      tracestate: "a=1,b=2",
      "x-request-id": "request-1",
      "kesc-forwarded": "true",
    });
  });

  it("give calls with the same credentials one batch key, and none to a call that must be sent alone", () => {
    const key = { "x-api-key": ["kesc_1"] };
    const same = [
      {},
      { "idempotency-key": ["a"] },
      { traceparent: ["00-1"], tracestate: ["a=1"] },
      { cookie: ["a=b"] },
    ];
    for (const more of same)
      expect(read({ ...key, ...more }).batchKey)
        .to.equal(read(key).batchKey)
        .and.be.a("string");
    for (const other of [
      {},
      { "x-api-key": ["kesc_2"] },
      { authorization: ["kesc_1"] },
      { ...key, authorization: ["a"] },
    ]) {
      expect(read(other).batchKey).to.be.a("string").and.not.equal(read(key).batchKey);
    }
    for (const more of [{ "idempotency-key": [""] }, { "grpc-timeout": ["5S"] }]) {
      expect(read({ ...key, ...more }).batchKey).to.equal(undefined);
    }
  });

  for (const [name, guard] of [
    ["x-idempotency-key", "idempotency-key"],
    ["idempotency_key", "idempotency-key"],
    ["grpc-metadata-idempotency-key", "idempotency-key"],
    ["idempotent-key", "idempotency-key"],
    ["x-if-match", "if-match"],
    ["if_none_match", "if-none-match"],
  ] as const) {
    it(`are refused as ${name}, which would guard nothing`, () => {
      const { problems } = read({ [name]: ["a"] });
      expect(problems).to.deep.equal([{ field: name, code: "UNKNOWN_FIELD", message: `is not read: send ${guard}` }]);
    });
  }

  for (const [name, values, message, code] of [
    ["characters beyond ASCII", ["caf\u00e9"], "must be printable ASCII characters", "FORMAT"],
    ["a tab", ["a\tb"], "must be printable ASCII characters", "FORMAT"],
    ["two values", ["a", "a"], "must be sent only once", "REPEATED"],
  ] as const) {
    it(`are refused by name with ${name}`, () => {
      const { metadata, problems, isKeyUnreadable } = read({ "idempotency-key": [...values] });
      expect(problems).to.deep.equal([{ field: "idempotency-key", code, message }]);
      expect(metadata.get("idempotency-key")).to.deep.equal([]);
      expect(isKeyUnreadable).to.equal(false);
    });

    it(`mark the key as unreadable when it has ${name}`, () => {
      expect(read({ "x-api-key": [...values] }).isKeyUnreadable).to.equal(true);
      expect(read({ authorization: [...values] }).isKeyUnreadable).to.equal(true);
    });
  }

  for (const [text, timeoutMillis] of [
    ["5S", 5_000],
    ["250m", 250],
    ["1M", TIMEOUT_MAX],
    ["99999999H", TIMEOUT_MAX],
    ["1500u", 2],
    ["1n", 1],
    ["00000001S", 1_000],
  ] as const) {
    it(`set a timeout of ${String(timeoutMillis)} ms with Grpc-Timeout ${text}`, () => {
      expect(read({ "grpc-timeout": [text] })).to.include({ timeoutMillis });
    });
  }

  it("leave the longest timeout when there is no Grpc-Timeout", () => {
    expect(read({}).timeoutMillis).to.equal(TIMEOUT_MAX);
  });

  for (const text of ["", "5", "S", "5s", "5 S", "-5S", "0S", "1.5S", "123456789S", "5SS", "５S"]) {
    it(`are refused with Grpc-Timeout ${JSON.stringify(text)}`, () => {
      const { problems, timeoutMillis } = read({ "grpc-timeout": [text] });
      expect(problems.map(({ field }) => field)).to.deep.equal(["grpc-timeout"]);
      expect(timeoutMillis).to.equal(TIMEOUT_MAX);
    });
  }

  it("are copied to mark a call that only validates", () => {
    const { metadata } = read({});
    expect(validateOnly(metadata).get("kesc-validate-only")).to.deep.equal(["true"]);
    expect(metadata.get("kesc-validate-only")).to.deep.equal([]);
  });
});
