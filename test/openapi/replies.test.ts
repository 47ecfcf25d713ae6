import { expect } from "chai";

import type { RestReply } from "../support/callers/rest-caller.js";
import { OPENAPI } from "../support/openapi/document.js";
import { expectDocumented, operationFor } from "../support/openapi/expect-documented.js";
import { differences } from "../support/openapi/schemas.js";

// Each reply of every end-to-end test is compared with the document, by the service of those tests
// (test/support/service/service.ts). Here is what that look finds.

const ACCOUNT = (
  OPENAPI.paths["/accounts/{account_id}"]?.["get"]?.responses["200"] as { content: Record<string, { example: object }> }
).content["application/json"]?.example;

function reply(status: number, body: object, headers: Readonly<Record<string, string>> = {}): RestReply {
  const type = status < 400 ? "application/json; charset=utf-8" : "application/problem+json";
  return { status, headers: { "content-type": type, ...headers }, text: JSON.stringify(body), json: { ...body } };
}

describe("the look at each reply", () => {
  const look = (given: RestReply) => () => {
    expectDocumented("GET", "/v1/accounts/acc_1?as_of_sequence=7", given);
  };

  it("lets the documented replies pass", () => {
    look(reply(200, ACCOUNT ?? {}))();
    look(reply(200, { ...ACCOUNT, as_of_sequence: 7, email: "" }))();
    look(reply(404, OPENAPI.components.examples["ACCOUNT_NOT_FOUND"]?.value as object))();
  });

  for (const [what, given, words] of [
    ["a member that nobody knows", reply(200, { ...ACCOUNT, colour: "red" }), /additional properties/],
    ["a member that is missing", reply(200, { id: "acc_1" }), /required property 'user_id'/],
    ["a null where there is always a value", reply(200, { ...ACCOUNT, status: null }), /must be string/],
    ["an amount that is a text", reply(200, { ...ACCOUNT, held_balance: "0.00" }), /held_balance must be number/],
    ["an enum value that nobody knows", reply(200, { ...ACCOUNT, status: "melted" }), /status must be equal to one of/],
    [
      "a reason of another operation",
      reply(404, OPENAPI.components.examples["TRANSACTION_NOT_FOUND"]?.value as object),
      /must/,
    ],
    [
      "a fact that the reason does not have",
      reply(404, { ...(OPENAPI.components.examples["ACCOUNT_NOT_FOUND"]?.value as object), colour: "red" }),
      /unevaluated/,
    ],
    ["a status that is not documented", reply(418, {}), /status is not documented/],
    ["a type that is not documented", reply(200, {}, { "content-type": "text/html" }), /text\/html is not documented/],
    [
      "a header that is not documented",
      reply(200, ACCOUNT ?? {}, { location: "/accounts/acc_1" }),
      /location is not documented/,
    ],
  ] as const) {
    it(`finds ${what}`, () => {
      expect(look(given)).to.throw(words);
    });
  }

  it("finds the operation as the gateway does: fixed text before fields", () => {
    expect(operationFor("POST", "/transactions/mint")?.operation.operationId).to.equal("Mint");
    expect(operationFor("GET", "/transactions/mint")?.operation.operationId).to.equal("GetTransaction");
    expect(operationFor("GET", "/nowhere")).to.equal(undefined);
  });

  it("checks formats", () => {
    expect(differences({ type: "string", format: "date-time" }, "yesterday")).to.have.lengthOf(1);
  });
});
