import { expect } from "chai";

import type { NotedHeads } from "../../src/verify/heads.js";
import { ENGINES } from "../support/databases.js";
import { forgeriesIn } from "./documented-forgeries.js";
import { GivenBooks } from "./given/books.js";
import { makeOperators } from "./given/operators.js";
import { findingsOnRows, openUnguarded, type Unguarded } from "./unguarded.js";

interface Known {
  /** The ids of the admin and of the approver. */
  readonly ann: string;
  readonly ben: string;
}

const [NAME, KEY, EXPIRY] = ["Mallory", "9".repeat(64), 9_000];

/** An operator at the end of the list. */
const MALLORY = `
  INSERT INTO operator_acts (seq, kind, operator_id, name, roles, key_sha256, actor, recorded_at)
  VALUES (6, 'operator.created', 'opr_mallory', '${NAME}', 'admin', '${KEY}', 'operator', 1000)`;

/** A revocation that Ann proposed and Ben approved, if one believes the rows. */
function agreement({ ann, ben }: Known): readonly string[] {
  const content = `{"format":"kesc-act-2","name":"revokeOperator","operatorId":"${ann}","shown":[]}`;
  return [
    `INSERT INTO operator_proposals (id, content, proposed_by, proposed_at, expires_at)
     VALUES ('prp_x', '${content}', '${ann}', 1000, ${String(EXPIRY)})`,
    `INSERT INTO operator_decisions (proposal_id, decision, decided_by, decided_at)
     VALUES ('prp_x', 'APPROVED', '${ben}', 1000)`,
  ];
}

/** Forgeries without the master key. */
const FORGERIES: readonly (readonly [name: string, forge: (known: Known) => readonly string[], findings: RegExp[]])[] =
  [
    [
      "an operator put in at the end",
      () => [MALLORY],
      [/operator_acts 6 opr_mallory: a row of the chain for it \| none/],
    ],
    [
      "the same, with a row of the chain that no key made",
      () => [MALLORY, `INSERT INTO operator_chain VALUES (11, 'act:6', BYTES(${"00".repeat(32)}))`],
      [/operator_acts 6 opr_mallory: the row that the chain has \| another row/],
    ],
    [
      "a proposal and its approval put in",
      agreement,
      [/operator_proposals \S+ prp_x: a row of the chain/, /operator_decisions \S+ prp_x: a row of the chain/],
    ],
    [
      "a decision taken out",
      () => ["DELETE FROM operator_decisions WHERE decision = 'REJECTED'"],
      [/operator_chain \d+ decision:prp_\S+: the row that it names \| none/],
    ],
    [
      "the chain taken away, with its key",
      () => ["DELETE FROM operator_chain", "DELETE FROM operator_keys"],
      [/operator_acts 1 opr_\S+: a row of the chain for it \| none/],
    ],
  ];

/** The last act revoked a person. Without it the key of that person works again. */
const CUT_OFF = [
  "DELETE FROM operator_decisions",
  "DELETE FROM operator_proposals",
  "DELETE FROM operator_acts WHERE seq >= 4",
  "DELETE FROM operator_chain WHERE seq >= 4",
];

for (const engine of ENGINES) {
  describe(`verify on ${engine}, after somebody forged operators`, () => {
    let unguarded: Unguarded;
    let known: Known;
    let heads: NotedHeads;
    before(async () => {
      unguarded = await openUnguarded(engine, async (database) => {
        await makeOperators(database, (await GivenBooks.open(database)).organizationId);
      });
      const acts = await unguarded.rows<{ name: string | null; operator_id: string }>(
        "SELECT name, operator_id FROM operator_acts ORDER BY seq",
      );
      const idOf = (name: string): string => acts.find((act) => act.name === name)?.operator_id ?? "";
      known = { ann: idOf("Ann"), ben: idOf("Ben") };
      const { coverage } = await unguarded.verifyAfter([]);
      heads = new Map(coverage.otherHeads.map((head) => [head.organizationId, head]));
    });
    after(() => unguarded.dispose());

    it("finds nothing when nothing was forged", async () => {
      expect(findingsOnRows(await unguarded.verifyAfter([], heads))).to.deep.equal([]);
    });

    for (const [name, forge, findings] of FORGERIES) {
      it(`finds ${name}`, async () => {
        const found = findingsOnRows(await unguarded.verifyAfter(forge(known))).join("\n");
        for (const finding of findings) expect(found).to.match(finding);
      });
    }

    it("finds the last acts of operators cut off, with their chain, by the heads alone", async () => {
      expect(findingsOnRows(await unguarded.verifyAfter(CUT_OFF))).to.deep.equal([]);
      expect(findingsOnRows(await unguarded.verifyAfter(CUT_OFF, heads))).to.deep.equal([
        "operator_chain 10 operators-0: the row that the heads file knows | the chain ends at seq 3",
      ]);
    });

    it("finds the whole chain gone, with the heads", async () => {
      const all = ["operator_decisions", "operator_proposals", "operator_acts", "operator_chain", "operator_keys"];
      const found = await unguarded.verifyAfter(
        all.map((table) => `DELETE FROM ${table}`),
        heads,
      );
      expect(findingsOnRows(found)).to.include(
        "operator_chain 10 operators-0: the chain that the heads file knows | none",
      );
    });
  });
}

describe("docs/ledger.md", () => {
  it("shows the forgeries of somebody without the master key, and what finds each", () => {
    expect(forgeriesIn("Then found by")).to.include.deep.members([
      ...FORGERIES.map(([name]) => [name, "`kesc verify`"]),
      ["the last acts of operators cut off, with their chain", "`--heads`"],
    ]);
  });
});
