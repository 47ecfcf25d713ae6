import type { Mutant } from "./plant.js";

const RECEIVE = "src/domain/operations/receive-deposit.js";
const UNASSIGN = "src/domain/operations/unassign-deposit.js";

/** Bugs in what becomes of shillings that came in without an order. */
export const OF_DEPOSITS: readonly Mutant[] = [
  {
    name: "deposit: shillings are credited although the book has the receipt",
    file: RECEIVE,
    edits: [{ from: "if (used !== undefined)\n        return replay", to: "if (false)\n        return replay" }],
  },
  {
    name: "deposit: it is assigned whatever its status",
    file: "src/domain/operations/assign-deposit.js",
    edits: [{ from: 'if (status !== "UNALLOCATED")', to: "if (false)" }],
  },
  {
    name: "deposit: taking a credit back leaves a shortfall",
    file: UNASSIGN,
    edits: [
      { from: "if (refusal !== undefined)", to: "if (false)" },
      {
        from: "posting: uncreditPosting(amountCents),",
        to: 'posting: refusal ? { debit: "shortfall", credit: "unallocated", amountCents } : uncreditPosting(amountCents),',
      },
    ],
  },
  {
    name: "deposit: a frozen account loses its credit",
    file: UNASSIGN,
    edits: [{ from: 'if (account.status === "FROZEN")', to: "if (false)" }],
  },
  {
    name: "deposit: a mint of another amount claims it",
    file: "src/domain/operations/move-money.js",
    edits: [{ from: " && deposit.amountCents === amountCents ? deposit", to: " ? deposit" }],
  },
  {
    name: "deposit: a credit that was taken back counts on",
    file: "src/domain/deposits/take-back.js",
    edits: [{ from: "moved(takenBack(book, account, mint, now), {", to: "moved({ account, limits: undefined }, {" }],
  },
  {
    name: "deposit: an order takes shillings though its own receipt is unclear",
    file: RECEIVE,
    edits: [{ from: ' || direction !== "MINT" || !isConfirmed)', to: ' || direction !== "MINT")' }],
  },
  {
    name: "deposit: a correction gives out what belongs to one",
    file: "src/domain/operations/correct-book.js",
    edits: [{ from: "const balanceCents = sums[from] - ofDeposits;", to: "const balanceCents = sums[from];" }],
  },
  {
    name: "deposit: two accounts of one batch get the same number",
    file: "src/ledger/batch-table.js",
    edits: [{ from: "this.#rowsByName.set(after, kept);", to: ";" }],
  },
];
