import { expect } from "chai";

import { readPushQuery, readQuestion } from "../../../src/rails/mpesa/probe.js";

const answered = (code: string, message: string) =>
  ({ kind: "answered", isOk: false, code, message, body: {} }) as const;

describe("a probe of M-Pesa", () => {
  for (const [code, message, result, advice] of [
    ["500.001.1001", "The transaction is being processed", "works", undefined],
    ["500.001.1001", "No such transaction", "works", undefined],
    ["400.002.02", "Bad Request - Invalid CheckoutRequestID", "works", undefined],
    ["500.001.1001", "[MerchantValidate] - Wrong credentials", "wrong", /passkey/],
    ["500.001.1001", "Merchant does not exist", "wrong", /collectShortcode/],
    ["400.002.02", "Bad Request - Invalid BusinessShortCode", "wrong", /collectShortcode/],
    ["401.003.01", "Invalid API call as no apiproduct match found", "lacking", /lacks this product/],
    ["404.001.01", "Resource not found", "wrong", /baseUrl/],
    ["500.003.02", "Spike Arrest Violation", "unanswered", /later/],
    ["HTTP_502", "", "unanswered", /later/],
  ] as const) {
    it(`reads ${code} "${message}" about a prompt that does not exist: ${result}`, () => {
      const read = readPushQuery(answered(code, message));
      expect(read.result).to.equal(result);
      if (advice === undefined) expect(read.advice).to.equal(undefined);
      else expect(read.advice).to.match(advice);
    });
  }

  it("takes 500.001.1001 for an error of M-Pesa about anything but a prompt", () => {
    for (const of of ["balance", "status", "list"] as const) {
      expect(readQuestion(answered("500.001.1001", "Internal error"), of, "/path").result).to.equal("unanswered");
    }
  });
});
