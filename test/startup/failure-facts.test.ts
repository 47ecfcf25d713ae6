import { expect } from "chai";

import { StoreError } from "../../src/ledger/ports/store.js";
import { failureFacts } from "../../src/startup/failure-facts.js";

const PHONE_NUMBER = "+254712345678";

describe("failureFacts", () => {
  it("has PostgreSQL's message, without the statement and without the detail", () => {
    const error = Object.assign(
      new Error('INSERT INTO accounts SELECT - 1 - duplicate key value violates unique constraint "accounts_id_key"'),
      { code: "23505", constraint: "accounts_id_key", detail: `Key (phone_number)=(${PHONE_NUMBER}) already exists.` },
    );
    expect(failureFacts(new StoreError("conflict", error))).to.deep.equal({
      code: "23505",
      constraint: "accounts_id_key",
      message: 'duplicate key value violates unique constraint "accounts_id_key"',
    });
  });

  it("leaves the message out where PostgreSQL quotes a value in it", () => {
    const error = Object.assign(new Error(`SELECT ? - invalid input syntax for type bigint: "${PHONE_NUMBER}"`), {
      code: "22P02",
    });
    expect(failureFacts(error)).to.deep.equal({ code: "22P02", constraint: undefined, message: undefined });
  });

  it("has the reason why no address of a host answers", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED ::1:5432"), { code: "ECONNREFUSED" });
    const { code, message } = failureFacts(new StoreError("unavailable", new AggregateError([refused, refused])));
    expect({ code, message }).to.deep.equal({ code: "ECONNREFUSED", message: "connect ECONNREFUSED ::1:5432" });
  });

  it("reads what is left of an error that comes from another thread", () => {
    expect(failureFacts({ code: "SQLITE_NOTADB" }).code).to.equal("SQLITE_NOTADB");
  });

  it("is empty for a value that is no error", () => {
    for (const thrown of ["words", undefined, null, 5]) {
      expect(failureFacts(thrown)).to.deep.equal({ code: undefined, constraint: undefined, message: undefined });
    }
  });
});
