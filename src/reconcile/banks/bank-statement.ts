import { type Cents, formatCents } from "../../domain/values/cents.js";
import { endOfDay, type NairobiDay, nairobiDayOf } from "../../domain/values/nairobi-day.js";
import { signedAmount } from "../../rails/written-amount.js";
import { signed } from "../reconciliation.js";
import { StatementError } from "../statement-error.js";

/** A payment. An entry that is the sum of several has one of these for each. */
export interface BankPayment {
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
  /** The numbers that the bank gave it; then those of the account's owner, if the owner paid. */
  readonly references: readonly string[];
  /** What the payer of a payment in wrote, field by field. Absent of a payment out. */
  readonly typed?: readonly string[];
}

/** An entry that the bank has booked. */
export interface BankEntry extends BankPayment {
  /** The day on which the bank booked it. */
  readonly day: NairobiDay;
  /** Takes back an earlier entry. The direction is what happened to the account. */
  readonly isReversal: boolean;
  readonly isCharge: boolean;
  /** Empty unless their sum is the entry's amount. */
  readonly parts: readonly BankPayment[];
}

export interface BankBalance {
  /** Negative if the account is overdrawn. */
  readonly cents: number;
  readonly day: NairobiDay;
}

/** One statement of a file, or one page of it. */
export interface BankStatement {
  /** Its number. No other statement of the account in the file has it. Undefined for CSV. */
  readonly id: string | undefined;
  /** The number of the account as the bank writes it. Undefined for CSV. */
  readonly account: string | undefined;
  readonly opening: BankBalance | undefined;
  readonly closing: BankBalance | undefined;
  readonly entries: readonly BankEntry[];
  /** The entries that moved nothing, or not yet. */
  readonly notBooked: number;
  /** What makes it doubtful: sentences for people. */
  readonly doubts: readonly string[];
}

/** The statements of one account, joined. */
export interface JoinedStatement extends Omit<BankStatement, "opening"> {
  /** The first and last day of its period. Undefined without an entry and a balance. */
  readonly days: { readonly first: NairobiDay; readonly last: NairobiDay } | undefined;
}

/** The most statements of a file. A month has 31 days, and a bank may write pages of each. */
export const STATEMENTS_MAX = 1_000;
/** The most entries of a file, and payments of its entries. */
export const ENTRIES_MAX = 50_000;
const DOUBTS_MAX = 100;
const SHOWN_MAX = 10;

/** ISO has 18 digits and a point, and banks may write zeros before them. */
const AMOUNT_CHARACTERS_MAX = 40;

/** The only currency of a book. */
export const CURRENCY = "KES";

/**
 * Joins the statements of a file. Several accounts in one file need the number of the account.
 *
 * Throws a StatementError for another account and for a statement that the file has twice.
 */
export function joinedStatements(statements: readonly BankStatement[], account: string | undefined): JoinedStatement {
  if (statements.length > STATEMENTS_MAX) {
    throw new StatementError(`It has more than ${String(STATEMENTS_MAX)} statements.`);
  }
  const own = ofAccount(statements, account);
  const ids = own.flatMap(({ id }) => id ?? []);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new StatementError(`It has the statement ${twice} twice.`);
  const entries = own.flatMap((each) => each.entries);
  const last = own.at(-1);
  return {
    id: idOf(ids),
    account: last?.account,
    closing: last?.closing,
    entries,
    notBooked: own.reduce((sum, { notBooked }) => sum + notBooked, 0),
    doubts: atMost([...own.flatMap(sumDoubt), ...own.flatMap(gapDoubt), ...own.flatMap((each) => each.doubts)]),
    days: daysOf(entries, { opening: own[0]?.opening, closing: last?.closing }),
  };
}

/** A month has many statements. */
function idOf(ids: readonly string[]): string | undefined {
  const [first, second] = ids;
  const last = ids.at(-1);
  if (first === undefined || last === undefined) return undefined;
  if (second === undefined) return first;
  return ids.length === 2 ? `${first}, ${last}` : `${first} to ${last}`;
}

function ofAccount(statements: readonly BankStatement[], account: string | undefined): readonly BankStatement[] {
  const accounts = [...new Set(statements.flatMap((each) => each.account ?? []))];
  const named = accounts.filter((each) => account === undefined || isNamed(each, account));
  if (named.length === 1) return statements.filter((each) => each.account === named[0]);
  if (accounts.length === 0) return statements;
  throw new StatementError(
    account === undefined
      ? `It has the accounts ${shown(accounts)}. Name the account.`
      : accounts.length === 1
        ? `It is of the account ${shown(accounts)}, and not of ${account}. ` +
          "If the bank writes the same account so, give this number as the account."
        : `It has the accounts ${shown(accounts)}, and not one account ${account}.`,
  );
}

function shown(accounts: readonly string[]): string {
  const more = accounts.length - SHOWN_MAX;
  return `${accounts.slice(0, SHOWN_MAX).join(", ")}${more > 0 ? ` and ${String(more)} more` : ""}`;
}

/** Keeps the first doubts, and says how many others there are. */
function atMost(doubts: readonly string[]): readonly string[] {
  const more = doubts.length - DOUBTS_MAX;
  return more > 0 ? [...doubts.slice(0, DOUBTS_MAX), `${String(more)} more of its entries are doubtful.`] : doubts;
}

/** MT940 may have the bank's code and a slash before the number. Some banks write it in groups. */
function isNamed(written: string, account: string): boolean {
  const named = plainNumber(account);
  return plainNumber(written) === named || plainNumber(written.slice(written.lastIndexOf("/") + 1)) === named;
}

function plainNumber(account: string): string {
  return account.replaceAll(/[\s-]/g, "").replace(/^0+/, "");
}

function sumDoubt({ id = "", opening, closing, entries }: BankStatement): readonly string[] {
  if (opening === undefined || closing === undefined) return [];
  const cents = entries.reduce((sum, entry) => sum + signed(entry), opening.cents);
  return cents === closing.cents
    ? []
    : [
        `Statement ${id} closes with ${balanceText(closing.cents)}, and its opening balance and entries make ${balanceText(cents)}: ` +
          "an entry is missing, or was changed.",
      ];
}

function gapDoubt(
  { id = "", opening }: BankStatement,
  index: number,
  all: readonly BankStatement[],
): readonly string[] {
  const before = all[index - 1];
  if (opening === undefined || before?.closing === undefined || before.closing.cents === opening.cents) return [];
  return [
    `Statement ${id} opens with ${balanceText(opening.cents)}, and the one before closes with ${balanceText(before.closing.cents)}: ` +
      "a statement between them is missing.",
  ];
}

/**
 * The opening balance of MT940 has the day before the first of the statement, and that of camt.053
 * either day. So a day that only the opening balance names is not in the period.
 */
function daysOf(
  entries: readonly BankEntry[],
  { opening, closing }: Pick<BankStatement, "opening" | "closing">,
): JoinedStatement["days"] {
  const days = [...entries.map(({ day }) => day), ...(closing === undefined ? [] : [closing.day])].sort();
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const afterOpening = opening === undefined ? first : nairobiDayOf(endOfDay(opening.day));
  return { first: afterOpening < first ? afterOpening : first, last };
}

/** Formats cents, also below zero. */
export function balanceText(cents: number): string {
  return `${cents < 0 ? "-" : ""}${formatCents(Math.abs(cents))}`;
}

// Up to 5 decimals of camt.053, and none of a whole amount such as MT940's "250,".
const DECIMAL = /^0*(\d+)(?:\.(\d*?)0*)?$/;

/**
 * Reads an amount of camt.053, or of MT940 with a point for its comma. Undefined for any other
 * text, and for a part of a cent.
 */
export function decimalCents(written: string): number | undefined {
  // The expression tries each way to divide many zeros.
  if (written.length > AMOUNT_CHARACTERS_MAX) return undefined;
  const [, whole = "", fraction = ""] = DECIMAL.exec(written) ?? [];
  const cents = whole === "" ? "bad" : (signedAmount(fraction === "" ? whole : `${whole}.${fraction}`) ?? 0);
  return cents === "bad" ? undefined : cents;
}
