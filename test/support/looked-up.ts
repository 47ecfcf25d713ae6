import {
  ALL_CELLS,
  ALSO_FOUND,
  type Book,
  type Finder,
  type FinderKeys,
  TABLE_KEYS,
  type TableName,
} from "../../src/domain/decision.js";
import { type Command, lookUp } from "../../src/domain/operations.js";
import type { OrganizationId, TransactionId } from "../../src/domain/values/ids.js";

/** What a finder finds by its key. A new finder of rows is one line. */
interface Found {
  /** The key is a name in this table, or an idempotency key: it stands for the id of that row. */
  readonly named?: keyof typeof NAMED;
  /** The tables that have a row with the id. */
  readonly rows?: readonly TableName[];
  /** The tables that have a group with the id. */
  readonly groups?: readonly TableName[];
  /** What else is loaded, as `ASKED` calls it. */
  readonly also?: string;
}

/** The methods of a book that read by the names in a table. */
const NAMED = {
  accounts: "accountWithDepositReference",
  accountHolders: "accountHolderOfUser",
  transactions: "transactionWithReference",
  deposits: "depositWithReceipt",
  apiKeys: "apiKeyWithHash",
  idempotencyKeys: "resourceOfIdempotencyKey",
  payoutFiles: "payoutFile",
} as const satisfies { readonly [Name in TableName]?: keyof Book };

export const FOUND: { readonly [Of in Finder]: Found } = {
  account: { rows: ["accounts"] },
  accountHolder: { rows: ["accountHolders"] },
  fullAccount: { groups: ["freezes"] },
  accountWithDepositReference: { named: "accounts", rows: ["accounts"] },
  accountOfUser: { named: "accountHolders", rows: ["accounts", "accountHolders"], groups: ["freezes"] },
  // And its account.
  transaction: { rows: ["transactions"] },
  transactionWithReference: { named: "transactions", rows: ["transactions"] },
  idempotencyKey: { named: "idempotencyKeys", rows: ["accounts", "transactions"] },
  idempotencyKeyOfAccount: { named: "idempotencyKeys", rows: ["accountHolders"], groups: ["freezes"] },
  idempotencyKeyOfFreeze: { named: "idempotencyKeys", rows: ["freezes"] },
  freeze: { rows: ["freezes"] },
  destination: { rows: ["destinations"] },
  destinationsOfAccount: { groups: ["destinations"] },
  idempotencyKeyOfDeposit: { named: "idempotencyKeys", rows: ["deposits"] },
  idempotencyKeyOfDestination: { named: "idempotencyKeys", rows: ["destinations"] },
  payment: { rows: ["payments"] },
  railAccounts: { groups: ["railAccounts"] },
  paymentsUnderWay: { also: "under way" },
  railAccountsOfCells: { also: "rail accounts of" },
  reveals: { also: "reveals" },
  aloneSum: { also: "alone" },
  closedMonth: { also: "closed month" },
  paidTo: { also: "paid to" },
  listed: { also: "listed" },
  payoutList: {},
  bankFile: { also: "bank file" },
  payoutCheck: { also: "payout check" },
  reservePlaces: { groups: ["reservePlaces"] },
  payoutFile: { named: "payoutFiles", rows: ["payoutFiles"] },
  order: { groups: ["transactions"] },
  paymentWithReference: { named: "transactions", rows: ["payments"] },
  idempotencyKeyOfPayment: { named: "idempotencyKeys", rows: ["payments"] },
  receiptNumber: { also: "other source" },
  receipt: { named: "deposits", rows: ["deposits"], also: "receipt" },
  deposit: { rows: ["deposits"] },
  unallocatedDeposits: { also: "deposits that wait" },
  movement: { also: "movement" },
  proposal: { rows: ["proposals"] },
  waitingProposals: { groups: ["proposals"] },
  decidingRows: { also: "deciding" },
  apiKey: { rows: ["apiKeys"] },
  apiKeyWithHash: { named: "apiKeys", rows: ["apiKeys"] },
  webhookEndpoint: { rows: ["webhookEndpoints"] },
  webhookEndpoints: { groups: ["webhookEndpoints"] },
  webhookRetries: { groups: ["webhookRetries"] },
};

export const FINDERS = Object.keys(FOUND) as Finder[];

/** Every row that the lookup of the command loads. */
function loadedFor(command: Command, book: Book): ReadonlySet<string> {
  const { organizationId } = command;
  const loaded = new Set<string>();
  const load = (finder: Finder, key: FinderKeys[Finder]): void => {
    const { named, rows = [], groups = [], also } = FOUND[finder];
    const name = typeof key === "string" ? key : key.name;
    if (also !== undefined) loaded.add(`${also} ${name}`);
    if (named !== undefined) loaded.add(`${named} named ${name}`);
    const id = named === undefined ? name : idOf(book, organizationId, { named, name });
    for (const table of rows) loaded.add(`${table} ${String(id)}`);
    for (const table of groups) loaded.add(`${table} of ${String(id)}`);
    if (finder === "transaction") {
      loaded.add(`accounts ${String(book.transaction(organizationId, name as TransactionId)?.accountId)}`);
    }
    for (const other of ALSO_FOUND[finder] ?? []) load(other, key);
  };
  lookUp(command, { need: load });
  return loaded;
}

function idOf(
  book: Book,
  organizationId: OrganizationId,
  { named, name }: { named: keyof typeof NAMED; name: string },
): string | undefined {
  const found = (book[NAMED[named]] as (...args: string[]) => object | string | undefined).apply(book, [
    organizationId,
    name,
  ]);
  return typeof found === "object" ? TABLE_KEYS[named].keyOf(found as never) : found;
}

/** The name of the row that a decision asks for. The book itself is loaded with every batch. */
const ASKED: { readonly [Method in keyof Book]: string | undefined } = {
  bookOf: undefined,
  account: "accounts",
  accountHolder: "accountHolders",
  accountWithDepositReference: "accounts named",
  accountHolderOfUser: "accountHolders named",
  freeze: "freezes",
  standingFreezes: "freezes of",
  transaction: "transactions",
  transactionWithReference: "transactions named",
  payment: "payments",
  lateCorrections: "transactions of",
  railAccounts: "railAccounts of",
  paymentsUnderWay: "under way",
  railAccountsOfCells: "rail accounts of",
  reveals: "reveals",
  aloneSum: "alone",
  closedMonth: "closed month",
  paidTo: "paid to",
  isListed: "listed",
  bankFile: "bank file",
  payoutCheck: "payout check",
  reservePlaces: "reservePlaces of",
  payoutFile: "payoutFiles named",
  receipt: "receipt",
  receiptOfOtherSource: "other source",
  deposit: "deposits",
  depositWithReceipt: "deposits named",
  unallocatedDepositCents: "deposits that wait",
  transactionWithMovement: "movement",
  proposal: "proposals",
  undecidedProposals: "proposals of",
  decidingRows: "deciding",
  apiKey: "apiKeys",
  apiKeyWithHash: "apiKeys named",
  destination: "destinations",
  destinations: "destinations of",
  resourceOfIdempotencyKey: "idempotencyKeys named",
  webhookEndpoint: "webhookEndpoints",
  webhookEndpoints: "webhookEndpoints of",
  webhookRetries: "webhookRetries of",
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
        const row = `${String(ASKED[method])} ${args.at(-1) ?? ALL_CELLS}`;
        if (ASKED[method] !== undefined && !loaded.has(row))
          throw new Error(`the decision on ${command.name} reads "${row}", which its lookup does not name`);
        return (book[method] as (...args: string[]) => unknown).apply(book, args);
      },
  });
}
