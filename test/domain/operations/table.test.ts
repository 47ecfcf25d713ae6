import { expect } from "chai";

import type { BookHead } from "../../../src/domain/book.js";
import type { Command } from "../../../src/domain/commands.js";
import {
  type Book,
  type Finder,
  type FinderKeys,
  FINDERS,
  type Lookup,
  type ResourceId,
  THE_CELL,
  type UsedIdempotencyKey,
} from "../../../src/domain/decision.js";
import { decide, lookUp } from "../../../src/domain/operations/table.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import type { Actor } from "../../../src/domain/values/actor.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { NO_CENTS } from "../../../src/domain/values/cents.js";
import type { ApiKeyId } from "../../../src/domain/values/ids.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { parseIdempotencyKey, parseReference, parseUserId, type Reference } from "../../../src/domain/values/text.js";
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
} from "../../support/commands.js";
import {
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
  NOW,
  ORGANIZATION,
} from "../../support/given.js";

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

/** Every row that the lookup loads: those that it names, and those to which they lead. */
function loadedFor(command: Command): Set<string> {
  const loaded = new Set<string>();
  const add = (kind: string, id: string): void => {
    loaded.add(`${kind} ${id}`);
  };
  const resourceOf = (key: string): string[] =>
    rows.idempotencyKeys.filter((used) => used.key === key).map(({ resourceId }) => resourceId);
  const finders: { readonly [Of in Finder]: (key: FinderKeys[Of]) => void } = {
    account: (id) => {
      add("account", id);
    },
    accountHolder: (id) => {
      add("holder", id);
    },
    fullAccount: (id) => {
      add("standing", id);
    },
    accountWithDepositReference: ({ name }) => {
      add("account of", name);
      for (const { id } of rows.accounts.filter((row) => row.depositReference === name)) add("account", id);
    },
    accountOfUser: ({ name: userId }) => {
      add("user", userId);
      for (const { accountId, person } of rows.accountHolders) {
        if (person?.userId === userId) need("fullAccount", accountId);
      }
    },
    transaction: (id) => {
      add("transaction", id);
      for (const { accountId } of rows.transactions.filter((row) => row.id === id)) need("account", accountId);
    },
    transactionWithReference: ({ name }) => {
      add("reference", name);
    },
    idempotencyKey: ({ name }) => {
      add("key", name);
      for (const id of resourceOf(name)) {
        add("account", id);
        add("transaction", id);
      }
    },
    idempotencyKeyOfAccount: ({ name }) => {
      for (const id of resourceOf(name)) {
        add("holder", id);
        add("standing", id);
      }
    },
    idempotencyKeyOfFreeze: ({ name }) => {
      for (const id of resourceOf(name)) add("freeze", id);
    },
    freeze: (id) => {
      add("freeze", id);
    },
    destination: (id) => {
      add("destination", id);
    },
    destinationsOfAccount: (id) => {
      add("destinations", id);
    },
    idempotencyKeyOfDeposit: ({ name }) => {
      for (const id of resourceOf(name)) add("deposit", id);
    },
    idempotencyKeyOfDestination: ({ name }) => {
      for (const id of resourceOf(name)) add("destination", id);
    },
    payment: (id) => {
      add("payment", id);
    },
    railAccounts: (id) => {
      add("rail accounts", id);
    },
    paymentsUnderWay: (id) => {
      add("under way", id);
    },
    railAccountsOfAll: (id) => {
      add("rail accounts of", id);
    },
    reveals: (actor) => {
      add("reveals", actor);
    },
    reservePlaces: (id) => {
      add("places", id);
    },
    order: (id) => {
      add("corrections", id);
    },
    paymentWithReference: ({ name }) => {
      for (const { id } of rows.transactions.filter((row) => row.reference === name)) add("payment", id);
    },
    idempotencyKeyOfPayment: ({ name }) => {
      for (const id of resourceOf(name)) add("payment", id);
    },
    receipt: ({ name }) => {
      add("receipt", name);
      add("deposit with", name);
      for (const { id } of rows.deposits.filter((row) => row.receipt === name)) add("deposit", id);
    },
    deposit: (id) => {
      add("deposit", id);
    },
    unallocatedDeposits: (id) => {
      add("deposits of", id);
    },
    movement: ({ name }) => {
      add("movement", name);
    },
    proposal: (subject) => {
      add("proposal", subject);
    },
    waitingProposals: (id) => {
      add("proposals", id);
    },
    apiKey: (id) => {
      add("key", id);
    },
    apiKeyWithHash: (hash) => {
      add("hash", hash);
    },
  };
  const need: Lookup["need"] = (finder, key) => {
    finders[finder](key);
    for (const other of FINDERS[finder]) (need as (finder: Finder, key: unknown) => void)(other, key);
  };
  lookUp(command, { need });
  return loaded;
}

/** Notes every row that a decision asks for. The organization's book is loaded with every batch. */
class NotingBook implements Book {
  readonly asked: string[] = [];
  readonly #book = givenBook(rows);

  bookOf(organizationId: OrganizationId): BookHead {
    return this.#book.bookOf(organizationId);
  }
  account(...[organizationId, id]: Parameters<Book["account"]>): ReturnType<Book["account"]> {
    this.asked.push(`account ${id}`);
    return this.#book.account(organizationId, id);
  }
  accountHolder(...[organizationId, id]: Parameters<Book["accountHolder"]>): ReturnType<Book["accountHolder"]> {
    this.asked.push(`holder ${id}`);
    return this.#book.accountHolder(organizationId, id);
  }
  accountHolderOfUser(
    ...[organizationId, userId]: Parameters<Book["accountHolderOfUser"]>
  ): ReturnType<Book["accountHolderOfUser"]> {
    this.asked.push(`user ${userId}`);
    return this.#book.accountHolderOfUser(organizationId, userId);
  }
  freeze(...[organizationId, id]: Parameters<Book["freeze"]>): ReturnType<Book["freeze"]> {
    this.asked.push(`freeze ${id}`);
    return this.#book.freeze(organizationId, id);
  }
  standingFreezes(...[organizationId, id]: Parameters<Book["standingFreezes"]>): ReturnType<Book["standingFreezes"]> {
    this.asked.push(`standing ${id}`);
    return this.#book.standingFreezes(organizationId, id);
  }
  transaction(...[organizationId, id]: Parameters<Book["transaction"]>): ReturnType<Book["transaction"]> {
    this.asked.push(`transaction ${id}`);
    return this.#book.transaction(organizationId, id);
  }
  transactionWithReference(
    ...[organizationId, reference]: Parameters<Book["transactionWithReference"]>
  ): ReturnType<Book["transactionWithReference"]> {
    this.asked.push(`reference ${reference}`);
    return this.#book.transactionWithReference(organizationId, reference);
  }
  payment(...[organizationId, id]: Parameters<Book["payment"]>): ReturnType<Book["payment"]> {
    this.asked.push(`payment ${id}`);
    return this.#book.payment(organizationId, id);
  }
  lateCorrections(...[organizationId, id]: Parameters<Book["lateCorrections"]>): ReturnType<Book["lateCorrections"]> {
    this.asked.push(`corrections ${id}`);
    return this.#book.lateCorrections(organizationId, id);
  }
  railAccounts(organizationId: OrganizationId): ReturnType<Book["railAccounts"]> {
    this.asked.push(`rail accounts ${organizationId}`);
    return this.#book.railAccounts(organizationId);
  }
  paymentsUnderWay(id: RailAccountId): number {
    this.asked.push(`under way ${id}`);
    return this.#book.paymentsUnderWay(id);
  }
  railAccountsOfAll(): string {
    this.asked.push(`rail accounts of ${THE_CELL}`);
    return this.#book.railAccountsOfAll();
  }
  reveals(actor: Actor): ReturnType<Book["reveals"]> {
    this.asked.push(`reveals ${actor}`);
    return this.#book.reveals(actor);
  }
  reservePlaces(organizationId: OrganizationId): ReturnType<Book["reservePlaces"]> {
    this.asked.push(`places ${organizationId}`);
    return this.#book.reservePlaces(organizationId);
  }
  receipt(...[organizationId, receipt]: Parameters<Book["receipt"]>): ReturnType<Book["receipt"]> {
    this.asked.push(`receipt ${receipt}`);
    return this.#book.receipt(organizationId, receipt);
  }
  accountWithDepositReference(
    ...[organizationId, reference]: Parameters<Book["accountWithDepositReference"]>
  ): ReturnType<Book["accountWithDepositReference"]> {
    this.asked.push(`account of ${reference}`);
    return this.#book.accountWithDepositReference(organizationId, reference);
  }
  deposit(...[organizationId, id]: Parameters<Book["deposit"]>): ReturnType<Book["deposit"]> {
    this.asked.push(`deposit ${id}`);
    return this.#book.deposit(organizationId, id);
  }
  depositWithReceipt(
    ...[organizationId, receipt]: Parameters<Book["depositWithReceipt"]>
  ): ReturnType<Book["depositWithReceipt"]> {
    this.asked.push(`deposit with ${receipt}`);
    return this.#book.depositWithReceipt(organizationId, receipt);
  }
  unallocatedDepositCents(organizationId: OrganizationId): number {
    this.asked.push(`deposits of ${organizationId}`);
    return this.#book.unallocatedDepositCents(organizationId);
  }
  transactionWithMovement(
    ...[organizationId, name]: Parameters<Book["transactionWithMovement"]>
  ): ReturnType<Book["transactionWithMovement"]> {
    this.asked.push(`movement ${name}`);
    return this.#book.transactionWithMovement(organizationId, name);
  }
  proposal(...[organizationId, subject]: Parameters<Book["proposal"]>): ReturnType<Book["proposal"]> {
    this.asked.push(`proposal ${subject}`);
    return this.#book.proposal(organizationId, subject);
  }
  undecidedProposals(organizationId: OrganizationId): ReturnType<Book["undecidedProposals"]> {
    this.asked.push(`proposals ${organizationId}`);
    return this.#book.undecidedProposals(organizationId);
  }
  apiKey(...[organizationId, id]: Parameters<Book["apiKey"]>): ReturnType<Book["apiKey"]> {
    this.asked.push(`key ${id}`);
    return this.#book.apiKey(organizationId, id);
  }
  apiKeyWithHash(...[organizationId, hash]: Parameters<Book["apiKeyWithHash"]>): ReturnType<Book["apiKeyWithHash"]> {
    this.asked.push(`hash ${hash}`);
    return this.#book.apiKeyWithHash(organizationId, hash);
  }
  destination(...[organizationId, id]: Parameters<Book["destination"]>): ReturnType<Book["destination"]> {
    this.asked.push(`destination ${id}`);
    return this.#book.destination(organizationId, id);
  }
  destinations(...[organizationId, id]: Parameters<Book["destinations"]>): ReturnType<Book["destinations"]> {
    this.asked.push(`destinations ${id}`);
    return this.#book.destinations(organizationId, id);
  }
  resourceOfIdempotencyKey(
    ...[organizationId, key]: Parameters<Book["resourceOfIdempotencyKey"]>
  ): ReturnType<Book["resourceOfIdempotencyKey"]> {
    this.asked.push(`key ${key}`);
    return this.#book.resourceOfIdempotencyKey(organizationId, key);
  }
}

describe("a lookup", () => {
  for (const command of Object.values(COMMANDS).flat()) {
    it(`for ${command.name} names every row that the decision reads`, () => {
      const book = new NotingBook();
      decide(book, command, NOW);
      const loaded = loadedFor(command);
      expect(book.asked.filter((row) => !loaded.has(row))).to.deep.equal([]);
      // The limits are in the book, which is loaded for every command.
      const isOfBook = /^(setLimits|setReserveRules|requireReceipts|.*Organization)$/.test(command.name);
      if (!isOfBook) expect(book.asked).not.to.deep.equal([]);
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
      const book = givenBook({
        ...rows,
        railAccounts: [railAccount(ORGANIZATION, { revision: 0, floatMinCents: toCents(1) })],
      });
      expect(effectOf(decide(book, command, NOW)).entries[0]?.kind).to.equal(kind);
    });
  }
});
