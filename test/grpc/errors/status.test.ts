import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { Reason } from "../../../src/grpc/errors/refusal.js";
import { statusOf } from "../../../src/grpc/errors/status.js";
import { readContract } from "../../../src/grpc/messages/contract.js";
import type { FieldProblem } from "../../../src/grpc/messages/fields.js";
import { detailsOf } from "../../support/callers/refusal.js";
import { expectDetail, expectShortSentences } from "../../support/callers/style.js";
import { exampleOf, EXAMPLES, REASONS_OF_OPERATORS } from "../../support/refusal-examples.js";
import { TRANSACTION_ID } from "../../support/service/grpc-server.js";

const RETRIED: readonly Reason[] = [
  "QUEUE_FULL",
  "TOO_MANY_STREAMS",
  "TOO_MANY_WEBHOOK_TESTS",
  "WEBHOOK_ENDPOINT_BUSY",
  "STORAGE_UNAVAILABLE",
  "SHUTTING_DOWN",
  "BOOK_MOVING",
  "CLOCK_BEHIND",
];

describe("grpc: a refusal on the wire", () => {
  for (const reason of Object.keys(EXAMPLES) as Reason[]) {
    const [, code, facts] = EXAMPLES[reason];
    it(`${reason} is ${Status[code]} with its facts`, () => {
      const status = statusOf(exampleOf(reason));
      expect(status.code).to.equal(code);
      expectDetail(status.details);
      expectShortSentences(status.details);
      // Each fact is in the text, too. It may be written in two words, as a list.
      for (const fact of Object.values(facts))
        for (const part of fact.split(",")) expect(status.details).to.include(part);
      expect(detailsOf(status.metadata)).to.deep.equal({
        reason,
        domain: "kesc",
        facts,
        ...(reason === "INVALID_FIELD" ? { fields: [] } : {}),
        ...(reason === "RATE_LIMITED" ? { retrySeconds: 1.501 } : {}),
        ...(reason === "TOO_MANY_REVEALS" ? { retrySeconds: 90.5 } : {}),
        ...(reason === "NOT_SEALED" ? { retrySeconds: 10 } : {}),
        ...(RETRIED.includes(reason) ? { retrySeconds: 1 } : {}),
      });
    });
  }

  it("joins the fields that differ as a list", () => {
    const messageFor = (...differingFields: ("amount" | "description" | "metadata")[]): string =>
      statusOf({ reason: "REFERENCE_ALREADY_USED", transactionId: TRANSACTION_ID, differingFields }).details;
    expect(messageFor("amount")).to.include("with another amount.");
    expect(messageFor("amount", "metadata")).to.include("with another amount and metadata.");
    expect(messageFor("amount", "description", "metadata")).to.include("another amount, description and metadata.");
  });

  it("has the reasons that the contract names, and no other", () => {
    const { files } = readContract();
    const values = files.getEnum("kesc.v1.ErrorReason")?.values ?? [];
    const named = values.map(({ name }) => name.replace("ERROR_REASON_", "")).filter((name) => name !== "UNSPECIFIED");
    expect(Object.keys(EXAMPLES)).to.have.members([...named, ...REASONS_OF_OPERATORS]);
  });

  it("names its facts as the contract documents them", () => {
    const { files } = readContract();
    const file = [...files.files].find(({ proto }) => proto.name === "kesc/v1/errors.proto");
    for (const [index, value] of (file?.proto.enumType[0]?.value ?? []).entries()) {
      const location = file?.proto.sourceCodeInfo?.location.find(
        ({ path }) => path.join() === `5,0,2,${String(index)}`,
      );
      const documented = /Facts:\s+([\w,\s]+)/.exec(location?.leadingComments ?? "")?.[1];
      const reason = value.name.replace("ERROR_REASON_", "") as Reason | "UNSPECIFIED";
      if (reason === "UNSPECIFIED") continue;
      const names = documented?.split(",").filter((words) => /^\s*\w+\s*$/.test(words)) ?? [];
      expect(Object.keys(EXAMPLES[reason][2]), reason).to.have.members(names.map((name) => name.trim()));
    }
  });

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
});
