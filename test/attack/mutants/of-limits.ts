import type { Mutant } from "./plant.js";

const MOVEMENT = "src/domain/movement.js";
const USAGE = "src/domain/limits/usage.js";
const LIMITS = "src/domain/limits/limits.js";

/** Bugs in the limits of amounts. */
export const OF_LIMITS: readonly Mutant[] = [
  {
    name: "a sum may exceed its limit by one cent",
    file: USAGE,
    edits: [
      { from: "(usedCents ?? 0) + amountCents > limitCents", to: "(usedCents ?? 0) + amountCents > limitCents + 1" },
    ],
  },
  {
    name: "what a day has used never begins again",
    file: USAGE,
    edits: [{ from: "if (usage !== undefined && usage.day.from >= from)", to: "if (usage !== undefined)" }],
  },
  {
    name: "a transaction counts for its account alone",
    file: MOVEMENT,
    edits: [
      {
        from: "limits: { ...limits, usage: counted(usageAt(limits.usage, now), movement) },",
        to: "limits,",
      },
    ],
  },
  {
    name: "what failed or was canceled counts on",
    file: "src/domain/orders/order.js",
    edits: [
      { from: "...takenBack(book, account, order.transaction, now), put", to: "account, limits: undefined, put" },
    ],
  },
  {
    name: "what was accepted before the first limits is given back",
    file: MOVEMENT,
    edits: [{ from: "limits === undefined || transaction.createdAt < limits.since", to: "limits === undefined" }],
  },
  {
    name: "an amount is given back on the day on which it failed",
    file: USAGE,
    edits: [{ from: "createdAt < sums.from ? sums :", to: "createdAt < 0 ? sums :" }],
  },
  {
    name: "a tier without limits has none",
    file: LIMITS,
    edits: [{ from: "tiers.get(tier) ?? tiers.get(DEFAULT_TIER) ?? NO_LIMITS", to: "tiers.get(tier) ?? NO_LIMITS" }],
  },
  {
    name: "the row of a book keeps what it has used",
    file: "src/storage/sql/records/book-head-rows.js",
    edits: [{ from: "...usageRowOf(limits.usage)", to: "...usageRowOf(undefined)" }],
  },
];
