import { expect } from "chai";

import { invalidFields, problemJson, titleOf } from "../../../gateway/problems/problem.js";

describe("a problem", () => {
  it("is written as problem+json, with the JSON of its facts", () => {
    const facts = new Map([
      ["available", "50.00"],
      ["differing_fields", '["amount"]'],
      ["account_id", '"acc_1"'],
    ]);
    const problem = { status: 422, code: "INSUFFICIENT_FUNDS", detail: 'Say "no".', facts };
    expect(problemJson(problem, "mine")).to.equal(
      '{"type":"/errors/insufficient-funds","title":"Insufficient funds","status":422,"detail":"Say \\"no\\".",' +
        '"code":"INSUFFICIENT_FUNDS","request_id":"mine","available":50.00,"differing_fields":["amount"],"account_id":"acc_1"}',
    );
  });

  it("has the code in words as its title", () => {
    const titles = ["MISSING_API_KEY", "HTTP_VERSION_TOO_OLD", "NO_SUCH_RPC", "NO_SUCH_ROUTE"].map(titleOf);
    expect(titles).to.deep.equal(["Missing API key", "HTTP version too old", "No such RPC", "No such route"]);
  });

  it("has no member that a fact replaces", () => {
    const facts = new Map(["code", "errors", "status", "request_id", "type"].map((name) => [name, '"fact"']));
    const text = problemJson({ status: 404, code: "NONE", detail: "", facts }, "mine");
    expect(text).not.to.match(/"fact"|"errors":/);
  });

  it("of bad fields names each field once, with its first problem", () => {
    const problem = invalidFields([
      { field: "colour", code: "UNKNOWN_FIELD", message: "is unknown" },
      { field: "amount", code: "WRONG_TYPE", message: "must be a number" },
      { field: "colour", code: "REQUIRED", message: "is required" },
    ]);
    expect(problem).to.deep.equal({
      status: 400,
      code: "INVALID_FIELD",
      detail: "Invalid request: colour is unknown; amount must be a number.",
      errors: [
        { field: "colour", code: "UNKNOWN_FIELD", message: "is unknown" },
        { field: "amount", code: "WRONG_TYPE", message: "must be a number" },
      ],
    });
  });

  it("of bad fields names at most 100", () => {
    const errors = Array.from({ length: 150 }, (_, index) => ({
      field: `f${String(index)}`,
      code: "UNKNOWN_FIELD",
      message: "is unknown",
    }));
    expect(invalidFields(errors).errors).to.deep.equal(errors.slice(0, 100));
  });
});
