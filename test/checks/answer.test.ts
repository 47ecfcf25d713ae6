import { expect } from "chai";

import { readAnswer } from "../../src/checks/answer.js";

describe("the answer of a service", () => {
  for (const [body, read] of [
    ['{"decision":"allow"}', { answer: "ALLOW", code: undefined }],
    ['{"decision":"hold","code":"NEW_NAME"}', { answer: "HOLD", code: "NEW_NAME" }],
    [' {"code":"ON_A_LIST","decision":"deny"}\n', { answer: "DENY", code: "ON_A_LIST" }],
  ] as const) {
    it(`is read from ${JSON.stringify(body)}`, () => {
      expect(readAnswer(body)).to.deep.equal(read);
    });
  }

  for (const body of [
    "",
    "allow",
    "null",
    "[]",
    '["allow"]',
    "{}",
    '{"decision":"ALLOW"}',
    '{"decision":"toString"}',
    '{"decision":true}',
    '{"decision":"allow","code":""}',
    '{"decision":"allow","code":"a word"}',
    '{"decision":"hold","code":"254712345678"}',
    '{"decision":"allow","code":null}',
    '{"decision":"deny","code":7}',
    '{"decision":"allow","max_amount":"10.00"}',
    '{"decision":"deny","decision":"allow"}',
    '{"decision":"allow","__proto__":{"max_amount":"10.00"}}',
    '{"decision":"allow"',
  ]) {
    it(`is none in ${JSON.stringify(body)}`, () => {
      expect(readAnswer(body)).to.equal(undefined);
    });
  }
});
