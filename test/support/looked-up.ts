import { ALSO_FOUND, type Book, type Finder, type FinderKeys, THE_CELL } from "../../src/domain/decision.js";
import { type Command, lookUp } from "../../src/domain/operations.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";

/** The names of the rows that a finder loads by its key, or the rows themselves. */
type Loads<Key> = readonly string[] | ((key: Key, book: Book, organizationId: OrganizationId) => readonly string[]);

const LOADED: { readonly [Of in Finder]: Loads<FinderKeys[Of]> } = {
  account: ["account"],
  accountHolder: ["holder"],
  fullAccount: ["standing"],
  accountWithDepositReference: ({ organizationId, name }, book) => [
    `account of ${name}`,
    ...rowsOf(book.accountWithDepositReference(organizationId, name)?.id, "account"),
  ],
  accountOfUser: ({ organizationId, name }, book) => {
    const holder = book.accountHolderOfUser(organizationId, name);
    return [`user ${name}`, ...rowsOf(holder?.accountId, "standing", "holder", "account")];
  },
  transaction: (id, book, organizationId) => [
    `transaction ${id}`,
    ...rowsOf(book.transaction(organizationId, id)?.accountId, "account"),
  ],
  transactionWithReference: ["reference"],
  idempotencyKey: (key, book) => [`key ${key.name}`, ...ofKey("account", "transaction")(key, book)],
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
  aloneSum: ["alone"],
  reservePlaces: ["places"],
  order: ["corrections"],
  paymentWithReference: ({ organizationId, name }, book) =>
    rowsOf(book.transactionWithReference(organizationId, name)?.id, "payment"),
  idempotencyKeyOfPayment: ofKey("payment"),
  receiptNumber: ["other source"],
  receipt: ({ organizationId, name }, book) => [
    `receipt ${name}`,
    `deposit with ${name}`,
    ...rowsOf(book.depositWithReceipt(organizationId, name)?.id, "deposit"),
  ],
  deposit: ["deposit"],
  unallocatedDeposits: ["deposits of"],
  movement: ["movement"],
  proposal: ["proposal"],
  waitingProposals: ["proposals"],
  decidingRows: ["deciding"],
  apiKey: ["key"],
  apiKeyWithHash: ["hash"],
};

function rowsOf(id: string | undefined, ...names: readonly string[]): readonly string[] {
  return id === undefined ? [] : names.map((name) => `${name} ${id}`);
}

/** The rows of the resource that a key was used for, by these names. */
function ofKey(...names: readonly string[]): (key: FinderKeys["idempotencyKey"], book: Book) => readonly string[] {
  return ({ organizationId, name }, book) => rowsOf(book.resourceOfIdempotencyKey(organizationId, name), ...names);
}

/** Every row that the lookup of the command loads. */
function loadedFor(command: Command, book: Book): ReadonlySet<string> {
  const loaded = new Set<string>();
  const load = (finder: Finder, key: FinderKeys[Finder]): void => {
    const loads = LOADED[finder] as Loads<FinderKeys[Finder]>;
    const nameOf = typeof key === "string" ? key : key.name;
    const rows =
      typeof loads === "function" ? loads(key, book, command.organizationId) : loads.map((name) => `${name} ${nameOf}`);
    for (const row of rows) loaded.add(row);
    for (const other of ALSO_FOUND[finder] ?? []) load(other, key);
  };
  lookUp(command, { need: load });
  return loaded;
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
  aloneSum: "alone",
  reservePlaces: "places",
  receipt: "receipt",
  receiptOfOtherSource: "other source",
  deposit: "deposit",
  depositWithReceipt: "deposit with",
  unallocatedDepositCents: "deposits of",
  transactionWithMovement: "movement",
  proposal: "proposal",
  undecidedProposals: "proposals",
  decidingRows: "deciding",
  apiKey: "key",
  apiKeyWithHash: "hash",
  destination: "destination",
  destinations: "destinations",
  resourceOfIdempotencyKey: "key",
};

/**
 * Returns the book as the ledger gives it to the decision on a command. It throws if the decision
 * reads a row that the lookup of the command does not name: the ledger would not have loaded it.
 */
export function asLookedUp(book: Book, command: Command): Book {
  const loaded = loadedFor(command, book);
  return new Proxy(book, {
    get:
      (_, method: keyof Book) =>
      (...args: string[]) => {
        const row = `${String(ASKED[method])} ${args.at(-1) ?? THE_CELL}`;
        if (ASKED[method] !== undefined && !loaded.has(row))
          throw new Error(`the decision on ${command.name} reads "${row}", which its lookup does not name`);
        return (book[method] as (...args: string[]) => unknown).apply(book, args);
      },
  });
}
