import { expect } from "chai";

import {
  ALSO_FOUND,
  type Book,
  type Finder,
  type FinderKeys,
  type ResourceId,
  THE_CELL,
  type UsedIdempotencyKey,
} from "../../src/domain/decision.js";
import { type Command, lookUp } from "../../src/domain/operations.js";
import { DIRECT_RAIL } from "../../src/domain/transaction.js";
import { toCents } from "../../src/domain/values/cents.js";
import { NO_CENTS } from "../../src/domain/values/cents.js";
import type { ApiKeyId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import { parseIdempotencyKey, parseReference, parseUserId, type Reference } from "../../src/domain/values/text.js";
import {
  advancePayment,
  ALONE,
  assignDeposit,
  beginPayment,
  cancel,
  clearFlag,
  closeAccount,
  completePayment,
  correctBook,
  createAccount,
  createApiKey,
  createDestination,
  depositReference,
  endReturn,
  eraseAccount,
  failPayment,
  flag,
  freezeAccount,
  mint,
  newProposalId,
  newTransactionId,
  numberAccount,
  railAccount,
  receiptNamed,
  receiveDeposit,
  recordCharge,
  recordDeposit,
  recordReserve,
  redeem,
  rejectProposal,
  removeDestination,
  requireReceipts,
  resolve,
  returnDeposit,
  returnThroughRail,
  revealAccount,
  reverse,
  reverseByOperator,
  reverseDeposit,
  revokeApiKey,
  setAccountTier,
  setDefaultRail,
  setLimits,
  setPayouts,
  setRailAccount,
  setReserveRules,
  SLOW_RAIL,
  suspension,
  unassignDeposit,
  unfreezeAccount,
  updateAccount,
  valid,
  watchRailAccount,
} from "../support/commands.js";
import {
  decide,
  EARLIER,
  effectOf,
  givenAccount,
  givenBook,
  givenDeposit,
  givenDestination,
  givenFreeze,
  givenHolder,
  givenPayment,
  givenPending,
  givenTransaction,
  ORGANIZATION,
} from "../support/given.js";

const active = givenAccount({ depositReference: depositReference(0) });
const frozen = givenAccount({ status: "FROZEN" });
const empty = givenAccount({ availableCents: NO_CENTS, heldCents: NO_CENTS });
const freeze = givenFreeze({ accountId: frozen.id });
const pending = givenPending({ accountId: active.id });
const minted = givenTransaction({ accountId: active.id, reference: valid(parseReference("minted")) });
const processing = givenPending({
  accountId: active.id,
  reference: "on its way" as Reference,
  status: "PROCESSING",
  openFlags: ["OUTCOME_UNKNOWN"],
});
const completed = givenTransaction({ accountId: active.id, reference: "done" as Reference, rail: SLOW_RAIL });
const open = givenDeposit();
const creditId = newTransactionId();
const credited = givenDeposit({
  receipt: receiptNamed("d2"),
  status: "CREDITED",
  reason: undefined,
  accountId: active.id,
  transactionId: creditId,
});
const returning = givenDeposit({ receipt: receiptNamed("d3"), status: "RETURNING", reason: undefined });
const credit = givenTransaction({
  id: creditId,
  accountId: active.id,
  reference: "credit" as Reference,
  depositId: credited.id,
});
const destination = givenDestination({ accountId: active.id });
const rows = {
  accounts: [active, frozen, empty],
  // The user "user" has one account.
  accountHolders: [active, frozen, empty].map((account, index) =>
    givenHolder(account, index === 0 ? {} : { userId: valid(parseUserId(`user${String(index)}`)) }),
  ),
  freezes: [freeze],
  destinations: [destination],
  transactions: [pending, minted, processing, completed, credit],
  payments: [
    givenPayment(pending),
    givenPayment(processing, { state: "SENDING", begunAt: EARLIER }),
    givenPayment(completed, { state: "ENDED" }),
  ],
  deposits: [open, credited, returning],
  receipts: [open, credited, returning].map(({ id: depositId, receipt }) => ({
    organizationId: ORGANIZATION,
    receipt,
    transactionId: undefined,
    depositId,
  })),
  idempotencyKeys: [
    usedKey("account", active.id),
    usedKey("freeze", freeze.id),
    usedKey("transaction", pending.id),
    usedKey("destination", destination.id),
  ],
};
const PAYER = "+254733111222" as PhoneNumber;
const movement = { organizationId: ORGANIZATION, accountId: active.id, amount: "1.00", reference: "new" };

function usedKey(key: string, resourceId: ResourceId): UsedIdempotencyKey {
  return { organizationId: ORGANIZATION, key: valid(parseIdempotencyKey(key)), resourceId, createdAt: EARLIER };
}

// One of each operation: a command without a line here does not compile.
const COMMANDS = {
  createAccount: [
    createAccount(ORGANIZATION, "new", { depositReferences: [depositReference(0), depositReference(1)] }),
    createAccount(ORGANIZATION, "user", { key: "k" }),
    createAccount(ORGANIZATION, "user", { key: "account" }),
  ],
  freezeAccount: [
    freezeAccount(ORGANIZATION, active.id),
    freezeAccount(ORGANIZATION, frozen.id, { key: "k" }),
    freezeAccount(ORGANIZATION, frozen.id, { key: "freeze", reason: "COURT_ORDER" }),
  ],
  unfreezeAccount: [unfreezeAccount(ORGANIZATION, frozen.id, freeze.id)],
  closeAccount: [closeAccount(ORGANIZATION, empty.id)],
  updateAccount: [updateAccount(ORGANIZATION, empty.id)],
  eraseAccount: [eraseAccount(ORGANIZATION, empty.id)],
  revealAccount: [revealAccount(ORGANIZATION, active.id)],
  setAccountTier: [setAccountTier(ORGANIZATION, active.id)],
  setLimits: [setLimits(ORGANIZATION, { changes: { DAY: toCents(1) } })],
  mint: [
    mint(movement),
    mint({ ...movement, reference: "earlier", key: "k" }),
    mint({ ...movement, key: "account" }),
    mint({ ...movement, receipt: "r1" }),
    mint({ ...movement, amount: "5.00", receipt: "d1" }),
    mint({ ...movement, rail: SLOW_RAIL }),
    mint({ ...movement, rail: SLOW_RAIL, key: "transaction", terms: { payerPhoneNumber: PAYER } }),
    mint({ ...movement, rail: SLOW_RAIL, reference: "earlier", terms: { payerPhoneNumber: PAYER } }),
  ],
  redeem: [
    redeem(movement),
    redeem({ ...movement, key: "transaction", rail: SLOW_RAIL }),
    { ...redeem({ ...movement, rail: SLOW_RAIL }), destinationId: destination.id },
  ],
  reverseTransaction: [
    reverse(ORGANIZATION, minted.id),
    reverse(ORGANIZATION, pending.id),
    reverse(ORGANIZATION, minted.id, { key: "transaction" }),
    reverse(ORGANIZATION, minted.id, { receipt: "r1" }),
    reverseByOperator(ORGANIZATION, minted.id),
  ],
  cancelTransaction: [cancel(ORGANIZATION, pending.id)],
  beginPayment: [beginPayment(ORGANIZATION, pending.id)],
  acceptPayment: [advancePayment("acceptPayment", ORGANIZATION, pending.id)],
  postponePayment: [advancePayment("postponePayment", ORGANIZATION, pending.id)],
  completePayment: [
    completePayment(ORGANIZATION, pending.id, { movement: "m1", receipt: "r1" }),
    completePayment(ORGANIZATION, completed.id, { movement: "m2" }),
  ],
  failPayment: [failPayment(ORGANIZATION, pending.id)],
  flagTransaction: [flag(ORGANIZATION, pending.id)],
  clearFlag: [clearFlag(ORGANIZATION, pending.id, "OUTCOME_UNKNOWN")],
  resolveTransaction: [
    resolve(ORGANIZATION, processing.id, { kind: "COMPLETED", receipt: receiptNamed("r1") }),
    resolve(ORGANIZATION, completed.id, {
      kind: "MOVED",
      receipt: receiptNamed("r1"),
      amountCents: pending.amountCents,
    }),
  ],
  numberAccount: [numberAccount(ORGANIZATION, empty.id), numberAccount(ORGANIZATION, active.id)],
  receiveDeposit: [
    receiveDeposit(ORGANIZATION),
    receiveDeposit(ORGANIZATION, { receipt: "r1", typed: depositReference(0) }),
    receiveDeposit(ORGANIZATION, { receipt: "r1", typed: "processing", orderId: processing.id }),
    receiveDeposit(ORGANIZATION, { receipt: "r1", typed: "done", orderId: completed.id }),
  ],
  recordDeposit: [
    recordDeposit(ORGANIZATION),
    recordDeposit(ORGANIZATION, { receipt: "r1", accountId: active.id }),
    { ...recordDeposit(ORGANIZATION, { receipt: "r1" }), authority: { ...ALONE, approves: newProposalId() } },
  ],
  assignDeposit: [assignDeposit(ORGANIZATION, open.id, active.id)],
  unassignDeposit: [unassignDeposit(ORGANIZATION, credited.id, creditId)],
  returnDeposit: [returnDeposit(ORGANIZATION, open.id), returnThroughRail(ORGANIZATION, open.id)],
  endReturn: [endReturn(returning), endReturn(returning, "back2")],
  reverseDeposit: [
    reverseDeposit(ORGANIZATION, open.id),
    reverseDeposit(ORGANIZATION, credited.id, { transactionId: creditId }),
  ],
  coverShortfall: [correctBook("coverShortfall", ORGANIZATION, { amountCents: 1, key: "c" })],
  recoverShortfall: [correctBook("recoverShortfall", ORGANIZATION, { amountCents: 1, key: "c", target: active.id })],
  allocate: [correctBook("allocate", ORGANIZATION, { amountCents: 1, key: "c", target: active.id })],
  returnUnallocated: [correctBook("returnUnallocated", ORGANIZATION, { amountCents: 1, key: "c", target: "r1" })],
  bookReceipt: [correctBook("bookReceipt", ORGANIZATION, { amountCents: 1, key: "c", target: "r1" })],
  bookPayment: [
    correctBook("bookPayment", ORGANIZATION, { amountCents: 1, key: "c", target: "r1" }),
    correctBook("bookPayment", ORGANIZATION, { amountCents: 1, key: "c", target: "r1", account: active.id }),
  ],
  adjustMovement: [correctBook("adjustMovement", ORGANIZATION, { amountCents: 1, key: "c", target: "r1" })],
  explainTransfer: [correctBook("explainTransfer", ORGANIZATION, { amountCents: 1, key: "c", target: "r1" })],
  fundCharges: [correctBook("fundCharges", ORGANIZATION, { amountCents: 1, key: "c", target: "r1" })],
  recordCharge: [recordCharge(ORGANIZATION)],
  requireReceipts: [
    requireReceipts(ORGANIZATION),
    { ...requireReceipts(ORGANIZATION, false), authority: { ...ALONE, groups: ["rails"] } },
  ],
  suspendOrganization: [suspension("suspendOrganization", ORGANIZATION)],
  resumeOrganization: [
    suspension("resumeOrganization", ORGANIZATION),
    { ...suspension("resumeOrganization", ORGANIZATION), authority: { ...ALONE, groups: ["resume"] } },
    { ...suspension("resumeOrganization", ORGANIZATION), authority: { ...ALONE, approves: newProposalId() } },
  ],
  createApiKey: [createApiKey(ORGANIZATION)],
  revokeApiKey: [revokeApiKey(ORGANIZATION, "key_1" as ApiKeyId)],
  rejectProposal: [rejectProposal(ORGANIZATION, newProposalId())],
  setRailAccount: [setRailAccount(ORGANIZATION)],
  setDefaultRail: [setDefaultRail(ORGANIZATION, DIRECT_RAIL)],
  setPayouts: [setPayouts(ORGANIZATION, "closed")],
  recordReserve: [recordReserve(ORGANIZATION, "bank")],
  watchRailAccount: [watchRailAccount(ORGANIZATION)],
  setReserveRules: [setReserveRules(ORGANIZATION, [])],
  createDestination: [
    createDestination(ORGANIZATION, empty.id),
    createDestination(ORGANIZATION, active.id, { key: "destination" }),
  ],
  removeDestination: [removeDestination(ORGANIZATION, active.id, destination.id)],
} as const satisfies Record<Command["name"], readonly Command[]>;

/** What a lookup loads by the key of each finder: the names of the rows, or more than those. */
const LOADED: { readonly [Of in Finder]: readonly string[] | ((key: FinderKeys[Of]) => readonly string[]) } = {
  account: ["account"],
  accountHolder: ["holder"],
  fullAccount: ["standing"],
  accountWithDepositReference: ({ name }) => [
    `account of ${name}`,
    ...idsOf(rows.accounts.filter((row) => row.depositReference === name)).map((id) => `account ${id}`),
  ],
  accountOfUser: ({ name }) => [
    `user ${name}`,
    ...rows.accountHolders
      .filter(({ person }) => person?.userId === name)
      .flatMap(({ accountId }) => loadedBy("fullAccount", accountId)),
  ],
  transaction: (id) => [
    `transaction ${id}`,
    ...rows.transactions.filter((row) => row.id === id).flatMap(({ accountId }) => loadedBy("account", accountId)),
  ],
  transactionWithReference: ["reference"],
  idempotencyKey: (key) => [`key ${key.name}`, ...ofKey("account", "transaction")(key)],
  idempotencyKeyOfAccount: ofKey("holder", "standing"),
  idempotencyKeyOfFreeze: ofKey("freeze"),
  freeze: ["freeze"],
  destination: ["destination"],
  destinationsOfAccount: ["destinations"],
  idempotencyKeyOfDeposit: ofKey("deposit"),
  idempotencyKeyOfDestination: ofKey("destination"),
  payment: ["payment"],
  railAccounts: ["rail accounts"],
  paymentsUnderWay: ["under way"],
  railAccountsOfAll: ["rail accounts of"],
  reveals: ["reveals"],
  reservePlaces: ["places"],
  order: ["corrections"],
  paymentWithReference: ({ name }) =>
    idsOf(rows.transactions.filter((row) => row.reference === name)).map((id) => `payment ${id}`),
  idempotencyKeyOfPayment: ofKey("payment"),
  receipt: ({ name }) => [
    `receipt ${name}`,
    `deposit with ${name}`,
    ...idsOf(rows.deposits.filter((row) => row.receipt === name)).map((id) => `deposit ${id}`),
  ],
  deposit: ["deposit"],
  unallocatedDeposits: ["deposits of"],
  movement: ["movement"],
  proposal: ["proposal"],
  waitingProposals: ["proposals"],
  apiKey: ["key"],
  apiKeyWithHash: ["hash"],
};

function idsOf(found: readonly { readonly id: string }[]): string[] {
  return found.map(({ id }) => id);
}

/** The rows of the resource that a key was used for, by these names. */
function ofKey(...names: readonly string[]) {
  return ({ name: used }: { readonly name: string }): string[] =>
    rows.idempotencyKeys
      .filter(({ key }) => key === used)
      .flatMap(({ resourceId }) => names.map((name) => `${name} ${resourceId}`));
}

/** The rows that a finder loads: those that it names, and those to which they lead. */
function loadedBy(finder: Finder, key: FinderKeys[Finder]): string[] {
  const loaded = LOADED[finder] as readonly string[] | ((key: FinderKeys[Finder]) => readonly string[]);
  const own = typeof loaded === "function" ? loaded(key) : loaded.map((name) => `${name} ${nameOf(key)}`);
  return [...own, ...(ALSO_FOUND[finder] ?? []).flatMap((other) => loadedBy(other, key))];
}

function nameOf(key: FinderKeys[Finder]): string {
  return typeof key === "string" ? key : key.name;
}

/** Every row that the lookup loads. */
function loadedFor(command: Command): Set<string> {
  const loaded: string[] = [];
  lookUp(command, { need: (finder, key) => loaded.push(...loadedBy(finder, key)) });
  return new Set(loaded);
}

/** The name of the row that a decision asks for. The book itself is loaded with every batch. */
const ASKED: { readonly [Method in keyof Book]: string | undefined } = {
  bookOf: undefined,
  account: "account",
  accountHolder: "holder",
  accountWithDepositReference: "account of",
  accountHolderOfUser: "user",
  freeze: "freeze",
  standingFreezes: "standing",
  transaction: "transaction",
  transactionWithReference: "reference",
  payment: "payment",
  lateCorrections: "corrections",
  railAccounts: "rail accounts",
  paymentsUnderWay: "under way",
  railAccountsOfAll: "rail accounts of",
  reveals: "reveals",
  reservePlaces: "places",
  receipt: "receipt",
  deposit: "deposit",
  depositWithReceipt: "deposit with",
  unallocatedDepositCents: "deposits of",
  transactionWithMovement: "movement",
  proposal: "proposal",
  undecidedProposals: "proposals",
  apiKey: "key",
  apiKeyWithHash: "hash",
  destination: "destination",
  destinations: "destinations",
  resourceOfIdempotencyKey: "key",
};

/** A book with the rows, and a list of every row that a decision asks it for. */
function notingBook(): { book: Book; asked: readonly string[] } {
  const asked: string[] = [];
  const given = givenBook(rows);
  const book = new Proxy<Book>(given, {
    get:
      (_, method: keyof Book) =>
      (...args: string[]) => {
        const name = ASKED[method];
        if (name !== undefined) asked.push(`${name} ${args.at(-1) ?? THE_CELL}`);
        return (given[method] as (...args: string[]) => unknown).apply(given, args);
      },
  });
  return { book, asked };
}

describe("a lookup", () => {
  for (const command of Object.values(COMMANDS).flat()) {
    it(`for ${command.name} names every row that the decision reads`, () => {
      const { book, asked } = notingBook();
      decide(book, command);
      const loaded = loadedFor(command);
      expect(asked.filter((row) => !loaded.has(row))).to.deep.equal([]);
      // The limits are in the book, which is loaded for every command.
      const isOfBook = /^(setLimits|setReserveRules|requireReceipts|.*Organization)$/.test(command.name);
      if (!isOfBook) expect(asked).not.to.deep.equal([]);
    });
  }
});

describe("a decision", () => {
  for (const [command, kind] of [
    [createAccount(ORGANIZATION, "new"), "account.created"],
    [freezeAccount(ORGANIZATION, active.id), "account.frozen"],
    [unfreezeAccount(ORGANIZATION, frozen.id, freeze.id), "account.unfrozen"],
    [closeAccount(ORGANIZATION, empty.id), "account.closed"],
    [updateAccount(ORGANIZATION, empty.id), "account.updated"],
    [eraseAccount(ORGANIZATION, empty.id), "account.erased"],
    [revealAccount(ORGANIZATION, active.id), "account.revealed"],
    [setAccountTier(ORGANIZATION, active.id), "account.tiered"],
    [createDestination(ORGANIZATION, empty.id), "destination.created"],
    [removeDestination(ORGANIZATION, active.id, destination.id), "destination.removed"],
    [setLimits(ORGANIZATION, { changes: { DAY: toCents(1) } }), "limits.set"],
    [mint(movement), "transaction.completed"],
    [redeem(movement), "transaction.completed"],
    [redeem({ ...movement, rail: SLOW_RAIL }), "transaction.pending"],
    [reverse(ORGANIZATION, minted.id), "transaction.completed"],
    [cancel(ORGANIZATION, pending.id), "transaction.canceled"],
    [beginPayment(ORGANIZATION, pending.id), "transaction.processing"],
    [failPayment(ORGANIZATION, pending.id), "transaction.failed"],
    [completePayment(ORGANIZATION, processing.id, { movement: "m1" }), "transaction.completed"],
    [flag(ORGANIZATION, pending.id), "transaction.flagged"],
    [correctBook("bookReceipt", ORGANIZATION, { amountCents: 1, key: "c", target: "r1" }), "book.received"],
    [numberAccount(ORGANIZATION, empty.id, [depositReference(1)]), "account.numbered"],
    [receiveDeposit(ORGANIZATION, { receipt: "r1" }), "deposit.received"],
    [recordDeposit(ORGANIZATION, { receipt: "r1" }), "deposit.received"],
    [assignDeposit(ORGANIZATION, open.id, active.id), "transaction.completed"],
    [unassignDeposit(ORGANIZATION, credited.id, creditId), "transaction.completed"],
    [returnDeposit(ORGANIZATION, open.id), "deposit.returned"],
    [endReturn(returning), "deposit.return_failed"],
    [reverseDeposit(ORGANIZATION, open.id), "deposit.reversed"],
    [setPayouts(ORGANIZATION, "closed"), "rail.changed"],
    [recordReserve(ORGANIZATION, "bank"), "reserve.recorded"],
    [watchRailAccount(ORGANIZATION, { availableCents: 0 }), "rail.warned"],
  ] as const) {
    it(`on ${command.name} goes into the journal as ${kind}`, () => {
      const railAccounts = [railAccount(ORGANIZATION, { revision: 0, floatMinCents: toCents(1) })];
      expect(effectOf(decide({ ...rows, railAccounts }, command)).entries[0]?.kind).to.equal(kind);
    });
  }
});
