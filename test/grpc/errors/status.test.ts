import { expect } from "chai";

import type { AnyRefusal } from "../../../src/grpc/errors/refusal.js";
import { statusOf } from "../../../src/grpc/errors/status.js";
import type { FieldProblem } from "../../../src/grpc/messages/fields.js";
import { detailsOf } from "../../support/callers/refusal.js";
import { expectDetail, expectShortSentences } from "../../support/callers/style.js";
import { exampleOf, REASONS } from "../../support/refusal-examples.js";

const RETRY_SECONDS: Partial<Record<AnyRefusal["reason"], number>> = {
  BOOK_MOVING: 1,
  CLOCK_BEHIND: 60.001,
  NOT_SEALED: 10,
  QUEUE_FULL: 1,
  RATE_LIMITED: 1.501,
  RESTORE_NOT_CONFIRMED: 30,
  SHUTTING_DOWN: 1,
  STORAGE_UNAVAILABLE: 1,
  TOO_MANY_REVEALS: 1.501,
  TOO_MANY_STREAMS: 1,
  TOO_MANY_WEBHOOK_TESTS: 1,
  WEBHOOK_ENDPOINT_BUSY: 1,
};

// test/lint/contract.test.ts compares the statuses, and the names of the facts, with the contract.
describe("grpc: a refusal on the wire", () => {
  for (const reason of REASONS) {
    it(`${reason} is said with its facts`, () => {
      const { refusal, facts } = exampleOf(reason);
      const status = statusOf(refusal);
      expectDetail(status.details);
      expectShortSentences(status.details);
      // Each fact is in the text, too. It may be written in two words, as a list.
      for (const fact of Object.values(facts))
        for (const part of fact.split(",")) expect(status.details).to.include(part);
      const retrySeconds = RETRY_SECONDS[reason];
      expect(detailsOf(status.metadata)).to.deep.equal({
        reason,
        domain: "kesc",
        facts,
        ...(reason === "INVALID_FIELD" ? { fields: [] } : {}),
        ...(retrySeconds === undefined ? {} : { retrySeconds }),
      });
    });
  }

  it("names every bad field, with its code", () => {
    const fields: FieldProblem[] = [
      { field: "amount", message: "must be more than zero", code: "OUT_OF_RANGE" },
      { field: "reference", message: "is required", code: "REQUIRED" },
    ];
    const status = statusOf({ reason: "INVALID_FIELD", fields });
    expect(detailsOf(status.metadata).fields).to.deep.equal(fields);
    expect(status.details).to.equal("Invalid request: amount must be more than zero; reference is required.");
  });

  it("survives half a surrogate pair, which would take the process down inside grpc-js", () => {
    const status = statusOf({
      reason: "INVALID_FIELD",
      fields: [{ field: "\ud800", message: "\udfff", code: "FORMAT" }],
    });
    expect(() => encodeURI(status.details)).not.to.throw();
  });

  it("CLOCK_BEHIND by a day is retried after five minutes: a person must act", () => {
    const { metadata } = statusOf({ reason: "CLOCK_BEHIND", behindMillis: 86_400_000 });
    expect(detailsOf(metadata)).to.include({ retrySeconds: 300 });
  });
});
