import type { Organization } from "../../../domain/api-key.js";
import { parseBankFileId, transactionOfEndToEndId } from "../../../domain/bank-file.js";
import { parseReceiptText } from "../../../domain/receipt.js";
import { readDepositReference } from "../../../domain/values/deposit-reference.js";
import { parseEmailAddress } from "../../../domain/values/email-address.js";
import {
  type AccountId,
  type DepositId,
  type DestinationId,
  type OrganizationId,
  parseAccountId,
  parseDepositId,
  parseDestinationId,
  parseProposalId,
  parseTransactionId,
  type ProposalId,
  type TransactionId,
} from "../../../domain/values/ids.js";
import { normalName } from "../../../domain/values/names-of-persons.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { parsePhoneNumber } from "../../../domain/values/phone-number.js";
import { parseReference, parseUserId } from "../../../domain/values/text.js";
import { type LookUpMatch, LookUpReading as Reading } from "../../../gen/kesc/admin/v1/admin_service.js";
import type { AccountFilters, DepositFilters, Page, TransactionFilters } from "../../../ledger/ports/reads.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import type { AnyRefusal } from "../../errors/refusal.js";
import { toAccountMessage } from "../../messages/account.js";
import { toDepositMessage } from "../../messages/deposit.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { namesOf, toJournalEntry } from "../../messages/operators/messages.js";
import { toTransactionMessage } from "../../messages/transaction.js";
import { noteFound, PersonLookUps } from "../accounts/reveals.js";
import type { HandlersOptions } from "../operator-options.js";
import { proposalNow } from "../proposals/proposal-messages.js";
import type { ServedCell } from "../served-cell.js";

const TEXT_CHARACTERS_MAX = 256;
const MATCHES_MAX = 20;
const FIRST_PAGE = { size: MATCHES_MAX, beforeSeq: undefined };
/** The readings that find a person, and the name of each in the book. */
const OF_PERSONS: Readonly<Partial<Record<Reading, string>>> = {
  [Reading.LOOK_UP_READING_EMAIL]: "email",
  [Reading.LOOK_UP_READING_PHONE_NUMBER]: "phone_number",
};
/** What looking one thing up by its id costs. */
const LOOKED_AT_BY_ID = 1;
const SEQUENCE = /^(?:#|row-)([1-9][0-9]{0,14})$/;

/**
 * The rpc that finds what a text names. It makes 17 reads along indexes at most, of 21 rows each:
 * of a receipt in three spellings, among transactions and deposits, and of a reference and a
 * user_id in two or three.
 */
export function lookUpRpc(options: HandlersOptions): Record<string, RpcRoute> {
  const { cellOf, listTurns } = options;
  const lookUps = new PersonLookUps(options);
  return {
    lookUp: organizationRpc("lookUp", {
      ...fieldsOf({ text: parseText })("text"),
      run: async ({ text }, caller) => {
        const { organization } = caller;
        const { id: organizationId } = organization;
        const cell = cellOf(organization);
        const { operator } = caller.who;
        // The machine has the database: no row would tell what a person reads there.
        const admit = () => (operator === undefined ? undefined : lookUps.admit(operator, organization));
        const page = await listTurns.page(caller, () =>
          search({ ...cell, options, organizationId, organization }, { text, admit }),
        );
        if ("reason" in page) return refuse(page);
        const { refusal, rows, readAs, tried, more } = page;
        if (refusal !== undefined) return refuse(refusal);
        if (operator !== undefined && tried.some((reading) => reading in OF_PERSONS)) {
          const note = OF_PERSONS[readAs];
          const ids = rows.flatMap(({ match }) => (note && match?.$case === "account" ? [match.value.id] : []));
          const unnoted = await noteFound(cell, { organizationId, found: ids, note }, caller);
          if (unnoted !== undefined) return refuse(unnoted);
        }
        return done({ read_as: readAs, tried: [...tried], matches: [...rows], more });
      },
    }),
  };
}

/** The problems do not repeat the text, which may be personal data. */
function parseText(unchecked: string): Parsed<string> {
  const text = unchecked.trim();
  if (text === "") return unparsed("is required", "REQUIRED");
  return text.length <= TEXT_CHARACTERS_MAX
    ? parsed(text)
    : unparsed(`must have at most ${String(TEXT_CHARACTERS_MAX)} characters`, "TOO_LONG");
}

interface SearchedBook extends Pick<ServedCell, "reads" | "history"> {
  readonly options: HandlersOptions;
  readonly organizationId: OrganizationId;
  readonly organization: Organization;
}

interface Found {
  readonly matches: readonly LookUpMatch[];
  readonly lookedAt: number;
  readonly more?: boolean;
}

/** Returns the look-up of a text in one way. Undefined if the text cannot be read so. */
type TextReading = (text: string, book: SearchedBook) => (() => Promise<Found>) | undefined;

const READINGS: readonly (readonly [Reading, TextReading])[] = [
  [Reading.LOOK_UP_READING_ACCOUNT_ID, ofId("acc_", parseAccountId, accountOf)],
  [Reading.LOOK_UP_READING_TRANSACTION_ID, ofId("txn_", parseTransactionId, transactionOf)],
  [Reading.LOOK_UP_READING_DEPOSIT_ID, ofId("dep_", parseDepositId, depositOf)],
  [Reading.LOOK_UP_READING_DESTINATION_ID, ofId("dst_", parseDestinationId, holderOf)],
  [Reading.LOOK_UP_READING_PROPOSAL_ID, ofId("prp_", parseProposalId, proposalOf)],
  [Reading.LOOK_UP_READING_BANK_FILE_ID, byBankFile],
  [Reading.LOOK_UP_READING_END_TO_END_ID, byEndToEndId],
  [Reading.LOOK_UP_READING_SEQUENCE, bySequence],
  [Reading.LOOK_UP_READING_EMAIL, named(parseEmailAddress, (email, book) => accountsOf(book, { email }))],
  [
    Reading.LOOK_UP_READING_PHONE_NUMBER,
    named(parsePhoneNumber, (phoneNumber, book) => accountsOf(book, { phoneNumber })),
  ],
  [
    Reading.LOOK_UP_READING_DEPOSIT_REFERENCE,
    (text, book) => {
      const depositReference = readDepositReference(text);
      return depositReference && (() => accountsOf(book, { depositReference }));
    },
  ],
  [Reading.LOOK_UP_READING_RECEIPT, byReceipt],
  [
    Reading.LOOK_UP_READING_REFERENCE,
    inAnyCase(parseReference, (reference, book) => transactionsOf(book, { reference })),
  ],
  [Reading.LOOK_UP_READING_USER_ID, inAnyCase(parseUserId, (userId, book) => accountsOf(book, { userId }))],
];

interface Search {
  readonly text: string;
  /** Returns why the caller may not look for a person. */
  readonly admit: () => AnyRefusal | undefined;
}

interface Searched {
  readonly rows: readonly LookUpMatch[];
  readonly readAs: Reading;
  readonly tried: readonly Reading[];
  readonly more: boolean;
  readonly lookedAt: number;
  readonly refusal?: AnyRefusal;
}

/**
 * Looks the text up in the order of the readings, until one finds something. What a reading makes
 * of the text decides whether it is about a person. A refusal comes before that reading: how long
 * it takes tells nothing of a match.
 */
async function search(book: SearchedBook, { text, admit }: Search): Promise<Searched> {
  const tried: Reading[] = [];
  let lookedAt = 0;
  for (const [reading, read] of READINGS) {
    const reads = read(text, book);
    if (reads === undefined) continue;
    tried.push(reading);
    const refusal = reading in OF_PERSONS ? admit() : undefined;
    if (refusal !== undefined) return { rows: [], readAs: reading, tried, more: false, lookedAt, refusal };
    const { matches, more = false, lookedAt: cost } = await reads();
    lookedAt += cost;
    if (matches.length > 0) return { rows: matches, readAs: reading, tried, more, lookedAt };
  }
  const [readAs = Reading.LOOK_UP_READING_UNSPECIFIED] = tried;
  return { rows: [], readAs, tried, more: false, lookedAt };
}

function as<Value>(
  parse: (text: string) => Parsed<Value>,
  read: (value: Value, book: SearchedBook) => Promise<Found>,
): TextReading {
  return (text, book) => {
    const value = parse(text);
    return value.ok ? () => read(value.value, book) : undefined;
  };
}

/** Looks up what names a person, in its normal form. */
function named<Value>(
  parse: (text: string) => Parsed<Value>,
  read: (value: Value, book: SearchedBook) => Promise<Found>,
): TextReading {
  const reading = as(parse, read);
  return (text, book) => {
    const name = normalName(text);
    // Nobody sees such a text. An empty address would find all accounts without one.
    return name === "" ? undefined : reading(name, book);
  };
}

/** Looks a text up as it is written, then in small letters, and then in capitals. */
function inAnyCase<Value>(
  parse: (text: string) => Parsed<Value>,
  read: (value: Value, book: SearchedBook) => Promise<Found>,
): TextReading {
  return (text, book) => firstOf([text, text.toLowerCase(), text.toUpperCase()], parse, (value) => read(value, book));
}

/** Looks up each spelling that can be parsed, until one is found. Undefined if none can be. */
function firstOf<Value>(
  spellings: readonly string[],
  parse: (text: string) => Parsed<Value>,
  read: (value: Value) => Promise<Found>,
): (() => Promise<Found>) | undefined {
  const parsedTexts = [...new Set(spellings)].map(parse);
  const values = new Set(parsedTexts.flatMap((value) => (value.ok ? [value.value] : [])));
  if (values.size === 0) return undefined;
  return async () => {
    let lookedAt = 0;
    for (const value of values) {
      const found = await read(value);
      lookedAt += found.lookedAt;
      if (found.matches.length > 0) return { ...found, lookedAt };
    }
    return { matches: [], lookedAt };
  };
}

/** Reads one thing by its id, which begins with the prefix. */
function ofId<Id extends string>(
  prefix: string,
  parse: (text: string) => Parsed<Id>,
  read: (id: Id, book: SearchedBook) => Promise<LookUpMatch["match"]>,
): TextReading {
  const byId = as(parse, async (id, book) => {
    const match = await read(id, book);
    return { matches: match === undefined ? [] : [{ match }], lookedAt: LOOKED_AT_BY_ID };
  });
  return (text, book) => {
    const id = text.toLowerCase();
    return id.startsWith(prefix) ? byId(id, book) : undefined;
  };
}

type Match = LookUpMatch["match"];

async function accountOf(id: AccountId, { reads, organizationId }: SearchedBook): Promise<Match> {
  const account = await reads.account(organizationId, id);
  return account && { $case: "account", value: toAccountMessage(account) };
}

async function transactionOf(id: TransactionId, { reads, organizationId }: SearchedBook): Promise<Match> {
  const transaction = await reads.transaction(organizationId, id);
  return transaction && { $case: "transaction", value: toTransactionMessage(transaction) };
}

async function depositOf(id: DepositId, { reads, organizationId }: SearchedBook): Promise<Match> {
  const deposit = await reads.deposit(organizationId, id);
  return deposit && { $case: "deposit", value: toDepositMessage(deposit) };
}

/** The account of a destination. */
async function holderOf(id: DestinationId, book: SearchedBook): Promise<Match> {
  const destination = await book.reads.destination(book.organizationId, id);
  return destination && accountOf(destination.accountId, book);
}

async function proposalOf(id: ProposalId, { options, organizationId }: SearchedBook): Promise<Match> {
  const found = await proposalNow(options, id);
  return found?.organization_id === organizationId ? { $case: "proposal", value: found } : undefined;
}

/** Finds the row that approved a payment file for a bank. */
function byBankFile(text: string, book: SearchedBook): ReturnType<TextReading> {
  const id = parseBankFileId(text.toUpperCase());
  if (!id.ok) return undefined;
  return async () => {
    const file = await book.options.bankPayments.file(book.organization, id.value);
    return file === undefined ? { matches: [], lookedAt: LOOKED_AT_BY_ID } : rowAt(file.seq, book);
  };
}

/** A bank names a payment of a file by it. */
function byEndToEndId(text: string, book: SearchedBook): ReturnType<TextReading> {
  const id = transactionOfEndToEndId(text.toUpperCase());
  if (id === undefined) return undefined;
  return async () => {
    const match = await transactionOf(id, book);
    return { matches: match === undefined ? [] : [{ match }], lookedAt: LOOKED_AT_BY_ID };
  };
}

function bySequence(text: string, book: SearchedBook): ReturnType<TextReading> {
  const [, digits] = SEQUENCE.exec(text.toLowerCase()) ?? [];
  return digits === undefined ? undefined : () => rowAt(Number(digits), book);
}

async function rowAt(seq: number, { options, history, organizationId }: SearchedBook): Promise<Found> {
  const at = { filter: {}, startSeq: seq, endSeq: seq + 1, size: 1, beforeSeq: undefined };
  const { result, lookedAt } = await history.journal(organizationId, at);
  const names = namesOf(await options.administration.operators());
  const matches = result.rows.map((row): LookUpMatch => {
    return { match: { $case: "entry", value: toJournalEntry(row, { organizationId, names }) } };
  });
  return { matches, lookedAt };
}

/** M-Pesa writes capitals, a source has small letters, and people write either. */
function byReceipt(text: string, book: SearchedBook): ReturnType<TextReading> {
  const [, source = "", number = ""] = /^([^:]*:)?(.*)$/s.exec(text) ?? [];
  const spellings = [text, source.toLowerCase() + number, source.toLowerCase() + number.toUpperCase()];
  return firstOf(spellings, parseReceiptText, async (receipt) => {
    const moved = await transactionsOf(book, { receipt });
    const received = await depositsOf(book, { receipt });
    return { matches: [...moved.matches, ...received.matches], lookedAt: moved.lookedAt + received.lookedAt };
  });
}

async function accountsOf({ reads, organizationId }: SearchedBook, filters: AccountFilters): Promise<Found> {
  return foundOn(await reads.accounts(organizationId, filters, FIRST_PAGE), (account) => {
    return { $case: "account", value: toAccountMessage(account) };
  });
}

async function transactionsOf({ reads, organizationId }: SearchedBook, filters: TransactionFilters): Promise<Found> {
  return foundOn(await reads.transactions(organizationId, filters, FIRST_PAGE), (transaction) => {
    return { $case: "transaction", value: toTransactionMessage(transaction) };
  });
}

async function depositsOf({ reads, organizationId }: SearchedBook, filters: DepositFilters): Promise<Found> {
  return foundOn(await reads.deposits(organizationId, filters, FIRST_PAGE), (deposit) => {
    return { $case: "deposit", value: toDepositMessage(deposit) };
  });
}

function foundOn<Row>({ rows, nextBeforeSeq, lookedAt }: Page<Row>, matchOf: (row: Row) => Match): Found {
  return { matches: rows.map((row) => ({ match: matchOf(row) })), more: nextBeforeSeq !== undefined, lookedAt };
}
