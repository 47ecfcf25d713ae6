import { readFileSync } from "node:fs";

import { expect } from "chai";

import { NOT_COVERED } from "../../src/verify/coverage.js";
import type { NotedHeads } from "../../src/verify/heads.js";
import { ENGINES } from "../support/databases.js";
import { Forger } from "./forger.js";
import { GivenBooks, makeTraffic, TRAFFIC_ROWS } from "./given/books.js";
import { makeOrders, ORDER_ROWS } from "./given/orders.js";
import { findingsOnRows, openUnguarded, type Unguarded } from "./unguarded.js";

const LAST = TRAFFIC_ROWS + ORDER_ROWS + 6;
/** The reversal of the mint before it. */
const REVERSAL = TRAFFIC_ROWS + ORDER_ROWS + 4;
/** The row that added the receipt of a mint over a rail. */
const RECEIPTED = TRAFFIC_ROWS + 6;

const HEADS_FINDING = new RegExp(`^journal ${String(LAST)} org_\\S+: the row that the heads file knows`);

/** Forgeries that agree with themselves. docs/ledger.md shows the same table. */
const FORGERIES: readonly (readonly [
  name: string,
  forge: (forger: Forger) => void,
  foundBy: "`--heads`" | "needs a seal",
])[] = [
  [
    "the last rows cut off",
    (forger) => {
      forger.remove(({ seq }) => seq === LAST);
    },
    "`--heads`",
  ],
  [
    "an account at the end wiped, with all its rows",
    (forger) => {
      const { id } = forger.lastAccount;
      forger.remove(({ account_id: accountId }) => accountId === id);
    },
    "`--heads`",
  ],
  [
    "a reversal taken out, with the link to it",
    (forger) => {
      forger.transaction(REVERSAL - 1)["reversed_by_id"] = null;
      forger.remove(({ seq }) => seq === REVERSAL);
    },
    "`--heads`",
  ],
  [
    "the amounts of two mints swapped",
    (forger) => {
      const [first, second] = [forger.transaction(17), forger.transaction(19)];
      [first["amount_cents"], second["amount_cents"]] = [second["amount_cents"] ?? 0, first["amount_cents"] ?? 0];
    },
    "needs a seal",
  ],
  [
    "a mint moved to another account",
    (forger) => {
      const { account_id: accountId = null } = forger.row(17);
      forger.row(18)["account_id"] = accountId;
      forger.transaction(18)["account_id"] = accountId;
    },
    "needs a seal",
  ],
  [
    "the amount of a mint changed",
    (forger) => {
      forger.transaction(18)["amount_cents"] = 9_900;
    },
    "needs a seal",
  ],
  [
    "the receipt of a payment changed",
    (forger) => {
      forger.row(RECEIPTED)["rail_receipt"] = "forged";
      forger.transaction(RECEIPTED)["rail_receipt"] = "forged";
    },
    "needs a seal",
  ],
  [
    "a mint added at the end",
    (forger) => {
      forger.append(19, { id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye", reference: "forged" });
    },
    "needs a seal",
  ],
];

for (const engine of ENGINES) {
  describe(`verify on ${engine}, after somebody with the master key recomputed everything`, () => {
    let unguarded: Unguarded;
    let heads: NotedHeads;
    before(async () => {
      unguarded = await openUnguarded(engine, async (database) => {
        const books = await GivenBooks.open(database);
        await makeTraffic(books);
        await makeOrders(books, await books.createAccount("zoe"));
        await books.reverse(await books.move("mint", await books.createAccount("dan"), "3.00"));
        await books.move("mint", await books.createAccount("erin"), "7.00");
      });
      const { coverage } = await unguarded.verifyAfter([]);
      heads = new Map(coverage.heads.map((head) => [head.organizationId, head]));
    });
    after(() => unguarded.dispose());

    it("finds nothing when nothing was forged", async () => {
      const { statements } = await forged(() => undefined);
      const verification = await unguarded.verifyAfter(statements, heads);
      expect(findingsOnRows(verification)).to.deep.equal([]);
      expect(verification.coverage.heads).to.deep.equal([...heads.values()]);
    });

    for (const [name, forge, foundBy] of FORGERIES) {
      it(`${name}: ${foundBy}`, async () => {
        const { statements } = await forged(forge);
        const alone = findingsOnRows(await unguarded.verifyAfter(statements));
        expect(alone, "without heads").to.deep.equal([]);
        const compared = findingsOnRows(await unguarded.verifyAfter(statements, heads));
        if (foundBy === "needs a seal") expect(compared).to.deep.equal([]);
        else expect(compared.join("\n")).to.match(HEADS_FINDING);
      });
    }

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
    const rows = [...readFileSync("docs/ledger.md", "utf8").matchAll(/^\| (.+?) +\| (`--heads`|needs a seal) +\|$/gm)];
    expect(rows.map(([, name, foundBy]) => [name, foundBy])).to.deep.equal(
      FORGERIES.map(([name, , foundBy]) => [name, foundBy]),
    );
  });
});
