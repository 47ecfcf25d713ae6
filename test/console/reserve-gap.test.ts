import { expect } from "chai";
import fc from "fast-check";
import { renderToString } from "preact-render-to-string";

import type { Visit } from "../../console/page.js";
import { monthPage } from "../../console/pages/month.js";
import { reconciliationPage } from "../../console/pages/reconciliation.js";
import { supplyPage } from "../../console/pages/supply.js";
import { todayPage } from "../../console/pages/today.js";
import type { BookSums } from "../../src/domain/book.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { toSupplyMessage } from "../../src/grpc/messages/history/supply.js";
import { explainedTie } from "../../src/reconcile/tie.js";
import type { RecordedFigure } from "../../src/statements/ports.js";
import { shownCents, textOf } from "./browser-like.js";

/** Lists without a row. */
const LISTS = {
  transactions: [],
  deposits: [],
  flags: [],
  held_rail_accounts: [],
  rail_accounts: [],
  waiting_payouts: [],
};
const NOTHING = { ...LISTS, checkpoint: { size: 0 } };
const NOW = toUnixMillis(1_790_000_000_000);
const cents = fc.integer({ min: 0, max: 2 ** 45 });
const money = fc.oneof(cents, fc.constantFrom(0, 1));
const sums: fc.Arbitrary<BookSums> = fc
  .record({ available: money, held: money, unallocated: money, shortfall: money, charges: money })
  .map((given) => ({
    ...given,
    reserve: given.available + given.held + given.unallocated - given.shortfall - given.charges,
  }));
const balances = fc.array(fc.record({ currency: fc.constantFrom("KES", "KES", "USD"), availableCents: money }), {
  maxLength: 3,
});

const figureOf = (amountCents: number): RecordedFigure => ({
  place: "KCB 1",
  amountCents: toCents(amountCents),
  asOfDay: "2026-09-01" as NairobiDay,
  evidence: "statement",
  kind: "bank_kenya",
  documentSha256: undefined,
  maturesOn: undefined,
  statementForm: undefined,
  recordedAt: NOW,
  seq: 1,
});

/** Returns the text of a page that reads this supply. */
async function textOfPage(page: typeof todayPage, supply: unknown): Promise<string> {
  const nothing = { count: 0, more: false };
  const counts = [
    "flagged_transactions",
    "old_open_payments",
    "waiting_deposits",
    "waiting_proposals",
    "proposals_for_me",
  ];
  const overview = {
    ...Object.fromEntries(counts.map((name) => [name, nothing])),
    sums: supply,
    oldest_open_payment_at: null,
    as_of_sequence: null,
    as_of_time: null,
  };
  const read = (rpc: string) =>
    Promise.resolve({ ok: true, value: rpc === "BookService/GetSupply" ? { supply } : NOTHING });
  const visit = {
    path: "/org_1",
    query: new URLSearchParams(),
    form: {},
    organization: { id: "org_1", name: "Acme" },
    person: { roles: [] },
    acts: new Map(),
    overview: Promise.resolve({ ok: true, value: overview }),
    read,
    readPast: read,
  } as unknown as Visit;
  const shown = await page.show(visit);
  return shown !== undefined && "body" in shown ? textOf(renderToString(shown.body)) : "";
}

/** Returns a message as the pages read it. Times and kinds are any. */
function shownToPages(message: object): unknown {
  const any: Readonly<Record<string, string>> = { kind: "other", reported_at: "2026-09-01T00:00:00Z", recorded_at: "" };
  const text = JSON.stringify(message, (name, value: unknown) =>
    typeof value === "bigint" ? Number(value) : (any[name] ?? value ?? null),
  );
  return JSON.parse(text);
}

describe("what was seen of a reserve, less what is owed", () => {
  it("is the same in GetSupply, on the first page, on Supply, on Reconciliation and in kesc reconcile", () =>
    fc.assert(
      fc.asyncProperty(sums, balances, fc.array(money, { maxLength: 2 }), async (given, reported, places) => {
        const railBalances = reported.map((each) => ({ ...each, rail: "mpesa", name: "Utility", reportedAt: NOW }));
        const reserveHoldings = places.map(figureOf);
        const seen = [
          ...reported.filter(({ currency }) => currency === "KES").map((each) => each.availableCents),
          ...places,
        ];
        const { available, held, unallocated } = given;
        const difference = BigInt(seen.reduce((sum, each) => sum + each, 0) - available - held - unallocated);

        const openPayments = { groups: [], hasMore: false };
        const backing = { openPayments, railBalances, reserveHoldings, rules: [] };
        const facts = {
          sums: given,
          turnover: undefined,
          seq: 0,
          recordedAt: undefined,
          backing,
          figures: [],
          now: NOW,
        };
        const supply = shownToPages(toSupplyMessage(facts));
        const [today, page] = [await textOfPage(todayPage, supply), await textOfPage(supplyPage, supply)];
        const tied = await textOfPage(reconciliationPage, supply);
        const kes = railBalances.filter(({ currency }) => currency === "KES");
        if (kes.length === 0) expect(tied).to.include("The rail has reported no balance").and.not.include("explains");
        else expect(tied).to.match(new RegExp(`What explains .* Difference ${shownCents(difference)} `));
        const month = await textOfPage(monthPage, supply);
        const owed = shownCents(BigInt(available + held + unallocated));
        for (const side of ["Assets", "Liabilities"]) expect(month).to.include(`${side} ${owed} 0.00 ${owed}`);
        if (seen.length === 0) {
          expect(today).to.include("Unknown whether the reserve covers").and.not.include("difference");
          expect(page).not.to.include("Total seen");
          return;
        }
        expect(supply).to.have.nested.property(
          "backing.difference",
          shownCents(difference).replaceAll(",", "").replace("−", "-"),
        );
        expect(today).to.include(`${shownCents(difference)} KES difference`);
        expect(today.includes("The reserve covers all that is owed")).to.equal(difference >= 0n);
        expect(page).to.include(` Difference ${shownCents(difference)} `);

        const early = { byTimeCents: 0n, byBreaksCents: 0n };
        const tie = { at: NOW, railAccounts: kes, places: reserveHoldings, sums: given };
        const reconciled = { movements: { early }, charges: { early } } as unknown as Parameters<
          typeof explainedTie
        >[1];
        const { differenceCents, unexplainedCents } = explainedTie(tie, reconciled);
        expect(differenceCents).to.equal(difference);
        // The book knows of the shortfall and of the charges. The rest is unknown.
        expect(unexplainedCents).to.equal(difference + BigInt(given.shortfall + given.charges));
        expect(page).to.include(` Not explained ${shownCents(unexplainedCents)} `);
      }),
      { numRuns: 200 },
    ));
});
