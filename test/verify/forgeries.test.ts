import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { verificationLines } from "../../src/cli/commands/verify.js";
import { publishBook } from "../../src/seals/publish.js";
import { sealReads } from "../../src/storage/seals/seal-store.js";
import { NOT_COVERED } from "../../src/verify/coverage.js";
import type { NotedHeads } from "../../src/verify/heads.js";
import { openPublishedCopy, type PublishedCopy } from "../../src/verify/published-copy.js";
import { ENGINES } from "../support/databases.js";
import { SEAL_PUBLIC_KEY, sealBooks } from "../support/seals/given-seals.js";
import { forgeriesIn } from "./documented-forgeries.js";
import { Forger } from "./forger.js";
import { GivenBooks, makeTraffic, TRAFFIC_ROWS } from "./given/books.js";
import { makeOrders, ORDER_ROWS } from "./given/orders.js";
import { findingsOnRows, openUnguarded, type Unguarded } from "./unguarded.js";

const LAST = TRAFFIC_ROWS + ORDER_ROWS + 6;
/** The reversal of the mint before it. */
const REVERSAL = TRAFFIC_ROWS + ORDER_ROWS + 4;
/** The row that added the receipt of a mint over a rail. */
const RECEIPTED = TRAFFIC_ROWS + 7;

const HEADS_FINDING = new RegExp(
  `^(journal ${String(LAST)} org_\\S+: the row|seals ${String(LAST)} : the seal) that the heads file knows`,
  "m",
);

/** Forgeries that agree with themselves, and the first row that differs from the published copy. */
const FORGERIES: readonly (readonly [
  name: string,
  forge: (forger: Forger) => void,
  foundBy: "`--heads`, `--published`" | "nothing",
  firstSeq?: number,
])[] = [
  [
    "the last rows cut off",
    (forger) => {
      forger.remove(({ seq }) => seq === LAST);
    },
    "`--heads`, `--published`",
    LAST,
  ],
  [
    "an account at the end wiped, with all its rows",
    (forger) => {
      const { id } = forger.lastAccount;
      forger.remove(({ account_id: accountId }) => accountId === id);
    },
    "`--heads`, `--published`",
    LAST - 1,
  ],
  [
    "a reversal taken out, with the link to it",
    (forger) => {
      forger.transaction(REVERSAL - 1)["reversed_by_id"] = null;
      forger.remove(({ seq }) => seq === REVERSAL);
    },
    "`--heads`, `--published`",
    REVERSAL,
  ],
  [
    "the amounts of two mints swapped",
    (forger) => {
      const [first, second] = [forger.transaction(18), forger.transaction(20)];
      [first["amount_cents"], second["amount_cents"]] = [second["amount_cents"] ?? 0, first["amount_cents"] ?? 0];
    },
    "`--heads`, `--published`",
    18,
  ],
  [
    "a mint moved to another account",
    (forger) => {
      const { account_id: accountId = null } = forger.row(18);
      forger.row(19)["account_id"] = accountId;
      forger.transaction(19)["account_id"] = accountId;
    },
    "`--heads`, `--published`",
    19,
  ],
  [
    "the amount of a mint changed",
    (forger) => {
      forger.transaction(19)["amount_cents"] = 9_900;
    },
    "`--heads`, `--published`",
    19,
  ],
  [
    "the receipt of a payment changed",
    (forger) => {
      forger.row(RECEIPTED)["rail_receipt"] = "forged";
      forger.transaction(RECEIPTED)["rail_receipt"] = "forged";
    },
    "`--heads`, `--published`",
    RECEIPTED,
  ],
  [
    "a mint put in between",
    (forger) => {
      forger.add(20, { id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye", reference: "forged", before: 21 });
    },
    "`--heads`, `--published`",
    21,
  ],
  [
    "the phone number of an account changed",
    (forger) => {
      forger.changePhoneNumber(4, "254799999999");
    },
    "`--heads`, `--published`",
    4,
  ],
  [
    "a mint added at the end",
    (forger) => {
      forger.add(20, { id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye", reference: "forged" });
    },
    "nothing",
  ],
];

/** The forger cannot sign a seal, but can take those of the database away. */
const WITHOUT_SEALS = ["DELETE FROM seals", "DELETE FROM seal_tiles"];

for (const engine of ENGINES) {
  describe(`verify on ${engine}, after somebody with the master key recomputed everything`, () => {
    let unguarded: Unguarded;
    let heads: NotedHeads;
    let published: PublishedCopy;
    const folder = mkdtempSync(join(tmpdir(), "kesc-published-"));
    before(async () => {
      unguarded = await openUnguarded(engine, async (database) => {
        const books = await GivenBooks.open(database);
        await makeTraffic(books);
        await makeOrders(books, await books.createAccount("zoe"));
        await books.reverse(await books.move("mint", await books.createAccount("dan"), "3.00"));
        await books.move("mint", await books.createAccount("erin"), "7.00");
        const [cell] = database.cells;
        await sealBooks(cell);
        const book = { number: 1, organizationId: books.organizationId };
        const publicKeys = [SEAL_PUBLIC_KEY];
        await publishBook(sealReads(cell), book, { folder: join(folder, book.organizationId), publicKeys });
        published = openPublishedCopy(folder, { publicKeys });
      });
      const { coverage } = await unguarded.verifyAfter([]);
      heads = new Map([...coverage.heads, ...coverage.otherHeads].map((head) => [head.organizationId, head]));
    });
    after(async () => {
      rmSync(folder, { recursive: true });
      await unguarded.dispose();
    });

    it("finds nothing when nothing was forged", async () => {
      const { statements } = await forged(() => undefined);
      const verification = await unguarded.verifyAfter(statements, heads, published);
      expect(findingsOnRows(verification)).to.deep.equal([]);
      const { coverage } = verification;
      expect([...coverage.heads, ...coverage.otherHeads]).to.deep.equal([...heads.values()]);
      expect(coverage).to.include({ seals: 1, publishedBooks: 1 });
    });

    for (const [name, forge, foundBy, firstSeq] of FORGERIES) {
      it(`${name}: ${foundBy}`, async () => {
        const { statements } = await forged(forge);
        // Who only adds rows leaves the seals as they are.
        const unsealed = firstSeq === undefined ? statements : [...statements, ...WITHOUT_SEALS];
        expect(findingsOnRows(await unguarded.verifyAfter(unsealed)), "alone").to.deep.equal([]);
        const byHeads = findingsOnRows(await unguarded.verifyAfter(unsealed, heads));
        if (foundBy.includes("--heads")) expect(byHeads.join("\n")).to.match(HEADS_FINDING);
        else expect(byHeads).to.deep.equal([]);
        const byCopy = findingsOnRows(await unguarded.verifyAfter(unsealed, undefined, published));
        if (firstSeq === undefined) expect(byCopy).to.deep.equal([]);
        else expect(byCopy[0]).to.match(new RegExp(`^journal ${String(firstSeq)} : the row that was published`));
      });

      if (firstSeq === undefined) continue;
      it(`${name}: the seal in the database, if it is still there`, async () => {
        const { statements } = await forged(forge);
        const found = findingsOnRows(await unguarded.verifyAfter(statements));
        expect(found.join("\n")).to.match(/seals \d+ : the root of the rows up to it|which are sealed/);
      });
    }

    it("a book that is hidden as one that moves: it names the book, and finds what contradicts that", async () => {
      const hidden = (state: string, phase: string): readonly string[] => [
        `UPDATE books SET state = '${state}'`,
        `INSERT INTO book_moves (book, move_id, phase, rows_done, changed_at) VALUES (1, 'm', '${phase}', 3, 5)`,
      ];
      const [{ organizationId } = { organizationId: "" }] = heads.values();
      const copying = await unguarded.verifyAfter(hidden("MOVING", "COPYING"));
      expect(findingsOnRows(copying).join()).to.match(/book_moves \d+ org_\S+: arrived_seq \d+ \| arrived_seq null/);
      expect(copying.coverage.notAudited).to.deep.equal([{ organizationId, phase: "COPYING", since: 5 }]);
      const careful = [...hidden("MOVING", "COPYING"), "UPDATE books SET arrived_seq = last_seq"];
      const named = await unguarded.verifyAfter(careful);
      expect(findingsOnRows(named)).to.deep.equal([]);
      expect(verificationLines(named, undefined)[1]).to.equal(
        `1 book not audited: ${organizationId} is being copied here (COPYING since 1970-01-01T00:00:00.005Z).`,
      );
      const byHeads = findingsOnRows(await unguarded.verifyAfter(careful, heads));
      expect(byHeads.join()).to.match(/the book that the heads file knows \| none/);
      const emptied = findingsOnRows(await unguarded.verifyAfter(hidden("MOVED", "EMPTIED")));
      expect(emptied.join()).to.match(/no rows of a book that was emptied \| rows up to seq \d+/);
      const opened = findingsOnRows(await unguarded.verifyAfter(hidden("OPEN", "LEFT")));
      expect(opened.join()).to.match(/no move of a book that is OPEN \| LEFT/);
    });

    it("a copy that somebody changed: it says so, and accuses no row", async () => {
      const changed = new Map(
        Array.from(published, ([id, copy]) => [
          id,
          { ...copy, leaf: (index: number) => (index === 4 ? Buffer.alloc(32) : copy.leaf(index)) },
        ]),
      );
      const found = findingsOnRows(await unguarded.verifyAfter([], undefined, changed));
      expect(found).to.have.lengthOf(1);
      expect(found[0]).to.match(/published tiles that give the root of their checkpoint/);
    });

    it("a copy that our key did not sign: it says so", async () => {
      const [[id, copy] = []] = published;
      if (id === undefined || copy === undefined) throw new Error("nothing was published");
      const found = findingsOnRows(
        await unguarded.verifyAfter([], undefined, new Map([[id, { ...copy, isSigned: false }]])),
      );
      expect(found.join()).to.match(/a published checkpoint that our key signed/);
    });

    it("a published book that is gone: it says so", async () => {
      const [[, copy] = []] = published;
      if (copy === undefined) throw new Error("nothing was published");
      const lost = new Map([["org_lost", { ...copy, organizationId: "org_lost" }]]);
      expect(findingsOnRows(await unguarded.verifyAfter([], undefined, lost)).join()).to.match(
        /the book that was published \| none/,
      );
    });

    async function forged(forge: (forger: Forger) => void): Promise<{ statements: readonly string[] }> {
      const forger = await Forger.at(unguarded);
      forge(forger);
      return { statements: forger.statements() };
    }
  });
}

describe("docs/ledger.md", () => {
  it("names each field that verify does not cover", () => {
    const [, section = ""] = readFileSync("docs/ledger.md", "utf8").split("No second source confirms");
    const missing = Object.keys(NOT_COVERED).filter((field) => !section.includes(`\`${field}\``));
    expect(missing).to.deep.equal([]);
  });

  it("shows the forgeries, and what finds each", () => {
    expect(forgeriesIn("Found by")).to.deep.equal(FORGERIES.map(([name, , foundBy]) => [name, foundBy]));
  });
});
