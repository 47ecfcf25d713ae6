import { expect } from "chai";

import type { AuditedJournalRow } from "../../src/verify/books/journal-rows.js";
import { HoldCheck } from "../../src/verify/books/transactions/hold-check.js";
import type { TransactionKind } from "../../src/verify/books/transactions/steps.js";

const SHA256 = "e".repeat(64);

/** A row of a transaction: the kind behind "transaction.", its detail, its actor. */
type Row = readonly [kind: string, detail: string | null, actor?: string];

/** The findings about a redemption whose rows have the numbers 1, 2, 3 …; a gap is "…". */
function findingsIn(rows: readonly (Row | "…")[], isSandbox = false): readonly string[] {
  const findings: string[] = [];
  const check = new HoldCheck({ isSandbox, add: (seq, expected) => findings.push(`${String(seq)}: ${expected}`) });
  let last = 0;
  for (const [index, given] of rows.entries()) {
    if (given === "…") continue;
    const [name, detail, actor = "key_1"] = given;
    const kind = `transaction.${name}` as TransactionKind;
    last = index + 1;
    const row = { seq: last, kind, detail, actor } as AuditedJournalRow;
    check.row(row, kind, index === 1);
    check.follow(row, kind, name !== "processing" && name !== "failed");
  }
  check.end(last);
  return findings;
}

const PENDING: Row = ["pending", null];
const WAITS: Row = ["held", "CHECK"];
const said = (answer: string, result = answer, code = "-", sha256 = SHA256): Row => [
  "checked",
  [answer, result, code, sha256].join(" "),
  "checks",
];
const RELEASED: Row = ["released", null, "checks"];
const DENIED: Row = ["failed", "CHECK_DENIED", "checks"];
const LEFT: Row = ["processing", null, "mpesa"];

describe("the audit of what a check holds", () => {
  for (const [what, rows] of [
    ["an allowed payout", [PENDING, WAITS, "…", said("ALLOW"), RELEASED, LEFT]],
    [
      "one that a person must look at, too",
      [PENDING, ["held", "AMOUNT,CHECK"], said("ALLOW"), ["held", "AMOUNT", "checks"]],
    ],
    ["a denied payout", [PENDING, WAITS, said("DENY", "DENY", "ON_A_LIST"), DENIED]],
    ["no answer that allows", [PENDING, WAITS, said("NO_ANSWER", "ALLOW", "-", "-"), RELEASED]],
    [
      "one that two persons release",
      [PENDING, WAITS, said("HOLD"), ["held", "CHECK_HELD", "checks"], ["released", null, "opr_a,opr_b"], LEFT],
    ],
    ["one that is refused before an answer", [PENDING, WAITS, ["failed", "REFUSED_BY_OPERATOR", "opr_a,opr_b"]]],
    ["one that is released on the database", [PENDING, WAITS, ["released", null, "operator"]]],
    ["one beyond an amount", [PENDING, ["held", "AMOUNT"], ["released", null, "opr_a"], LEFT]],
  ] as const satisfies readonly (readonly [string, readonly (Row | "…")[]])[]) {
    it(`finds nothing about ${what}`, () => {
      expect(findingsIn(rows)).to.deep.equal([]);
    });
  }

  for (const [what, rows, found] of [
    [
      "a payout that left without an answer",
      [PENDING, WAITS, LEFT],
      "3: transaction.released before the rail is asked",
    ],
    [
      "a release by the check without its row",
      [PENDING, WAITS, RELEASED],
      "3: transaction.checked right before a row of the check",
    ],
    [
      "a release although the check held",
      [PENDING, WAITS, said("HOLD"), RELEASED],
      "4: transaction.held CHECK_HELD right after transaction.checked",
    ],
    [
      "a release although the check denied",
      [PENDING, WAITS, said("DENY"), RELEASED],
      "4: transaction.failed CHECK_DENIED right after transaction.checked",
    ],
    [
      "an effect that comes later",
      [PENDING, WAITS, said("ALLOW"), "…", RELEASED],
      "5: transaction.released right after transaction.checked",
    ],
    [
      "an answer without an effect",
      [PENDING, WAITS, said("ALLOW")],
      "3: transaction.released right after transaction.checked",
    ],
    [
      "a second answer",
      [PENDING, WAITS, said("ALLOW"), RELEASED, said("ALLOW"), RELEASED],
      "5: a redemption that waits for the check",
    ],
    [
      "an answer of somebody else",
      [PENDING, WAITS, ["checked", `ALLOW ALLOW - ${SHA256}`, "opr_a"], RELEASED],
      "3: checks as the actor",
    ],
    ["an answer that is another one", [PENDING, WAITS, said("HOLD", "ALLOW"), RELEASED], "3: an answer of a check"],
    ["no answer that denies", [PENDING, WAITS, said("NO_ANSWER", "DENY"), DENIED], "3: an answer of a check"],
    ["personal data as a code", [PENDING, WAITS, said("ALLOW", "ALLOW", "Amina"), RELEASED], "3: an answer of a check"],
    ["a failure by the check without its row", [PENDING, WAITS, DENIED], "3: transaction.checked"],
    [
      "one person alone",
      [PENDING, WAITS, said("HOLD"), ["held", "CHECK_HELD", "checks"], ["released", null, "opr_a"]],
      "5: transaction.released by two persons",
    ],
    [
      "one person who refuses",
      [PENDING, WAITS, ["failed", "REFUSED_BY_OPERATOR", "opr_a"]],
      "3: transaction.failed by two persons",
    ],
    [
      "one person who releases what the list holds",
      [PENDING, ["held", "AMOUNT,LISTED"], ["released", null, "opr_a"]],
      "3: transaction.released by two persons",
    ],
    ["an unknown reason", [PENDING, ["held", "CHECK,BRIBED"]], "2: transaction.held with its reasons"],
    ["a hold that comes later", [PENDING, "…", WAITS], "3: transaction.held right after transaction.pending"],
  ] as const satisfies readonly (readonly [string, readonly (Row | "…")[], string])[]) {
    it(`finds ${what}`, () => {
      expect(findingsIn(rows).join("\n")).to.include(found);
    });
  }

  it("lets one person decide in a sandbox", () => {
    expect(findingsIn([PENDING, WAITS, ["released", null, "opr_a"]], true)).to.deep.equal([]);
  });
});
