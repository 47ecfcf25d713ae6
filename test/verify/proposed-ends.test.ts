import { expect } from "chai";

import { ProposedEnds } from "../../src/verify/books/transactions/proposed-ends.js";

const detail = (person: string, content: object) => JSON.stringify(["prp_1", person, JSON.stringify(content)]);
const act = { name: "resolveTransactions", results: [{ transactionId: "txn_1" }, { transactionId: "txn_2" }] };

describe("the proposals to complete several transactions", () => {
  const ends = new ProposedEnds();
  for (const [seq, kind, text] of [
    [5, "book.proposed", detail("opr_a", act)],
    [6, "book.proposed", detail("opr_b", { ...act, name: "resolveTransaction" })],
    [7, "book.proposed", detail("opr_c", { name: "resolveTransactions" })],
    [8, "book.proposed", "resolveTransactions"],
    [9, "book.proposed", null],
    [10, "transaction.resolution_proposed", detail("opr_d", act)],
  ] as const) {
    ends.row({ seq, kind, detail: text });
  }

  it("name the person who has proposed, for the rows after it, and for no other transaction", () => {
    expect([ends.has("txn_1", "opr_a", 6), ends.has("txn_2", "opr_a", 9)]).to.deep.equal([true, true]);
    expect(ends.has("txn_1", "opr_a", 5), "before it").to.equal(false);
    expect(ends.has("txn_3", "opr_a", 6), "another transaction").to.equal(false);
    expect(ends.has("txn_1", undefined, 6), "nobody").to.equal(false);
  });

  for (const person of ["opr_b", "opr_c", "opr_d", ""]) {
    it(`do not name "${person}", of whom no row says so`, () => {
      expect(ends.has("txn_1", person, 20)).to.equal(false);
    });
  }
});
