import { type BookSums, NO_SUMS } from "../domain/book.js";
import { ASSETS, type Balances, BOOK_ACCOUNTS, type BookAccount } from "../domain/journal.js";
import type { AccountId } from "../domain/values/ids.js";
import { type NairobiDay, nairobiDayOf } from "../domain/values/nairobi-day.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import { type History, sumsAsOf } from "./as-of.js";
import type { BookLine, LinesPage } from "./ports.js";
import {
  balancesAt,
  checkClosing,
  footed,
  type Footing,
  FootingError,
  movementOf,
  type Period,
  type PeriodRows,
  rowsOf,
} from "./statement.js";

/** The lines of one message. With 64 more a window between marks is 256 rows. */
const LINES = 192;

/** A line of an exported statement. An amount is absent if it is zero. */
export interface StatementLine {
  readonly seq: number;
  readonly time: UnixMillis;
  readonly date: NairobiDay;
  readonly kind: string;
  /** Undefined in the lines "opening" and "closing". */
  readonly line: BookLine | undefined;
  readonly inCents: number | undefined;
  readonly outCents: number | undefined;
  readonly balances: Balances;
}

/** One side of a posting, or a line "opening" or "closing". */
export interface LedgerLine {
  readonly seq: number;
  readonly time: UnixMillis;
  readonly date: NairobiDay;
  readonly kind: string;
  readonly account: BookAccount;
  readonly debitCents: number | undefined;
  readonly creditCents: number | undefined;
  /** The balance of the book account after the line. */
  readonly balanceCents: number;
  /** Undefined in the lines "opening" and "closing". */
  readonly line: BookLine | undefined;
}

/**
 * Makes the statement of an account, oldest line first, in parts. Its memory does not grow with the
 * statement. Throws a FootingError as soon as the lines do not lead to the closing balances.
 */
export async function* exportStatement(
  history: History,
  { accountId, ...period }: Period & { readonly accountId: AccountId },
): AsyncGenerator<readonly StatementLine[], void, void> {
  const rows = await rowsOf(history, period);
  const opening = await balancesAt(history, { accountId, seq: rows.afterSeq });
  const closing = await balancesAt(history, { accountId, seq: rows.toSeq });
  const end = { line: undefined, inCents: undefined, outCents: undefined } as const;
  const first = { seq: rows.afterSeq, time: period.start, date: nairobiDayOf(period.start), kind: "opening" };
  yield [{ ...end, ...first, balances: opening }];
  let footing: Footing = { inCents: 0, outCents: 0, balances: opening };
  const { organizationId, reads } = history;
  const pages = pagesOf(history, rows, (request) => reads.accountLines(organizationId, { accountId, ...request }));
  for await (const lines of pages) {
    const part: StatementLine[] = [];
    for (const line of lines) {
      footing = footed(footing, line);
      part.push({ ...statementLineOf(line), balances: footing.balances });
    }
    yield part;
  }
  checkClosing({ opening, closing, footing });
  const { inCents, outCents } = footing;
  const last = { seq: rows.toSeq, time: period.end, date: lastDayOf(period), kind: "closing", line: undefined };
  yield [{ ...last, inCents, outCents, balances: closing }];
}

/** Makes all lines of the book, oldest first, in parts. */
export async function* exportJournal(
  history: History,
  period: Period,
): AsyncGenerator<readonly BookLine[], void, void> {
  yield* bookPages(history, await rowsOf(history, period));
}

/**
 * Makes the double entries of a period, oldest first, in parts, between the lines "opening" and
 * "closing" unless only postings are wanted. Throws a FootingError if they do not lead to the
 * closing balances of the book.
 */
export async function* exportGeneralLedger(
  history: History,
  period: Period,
  { postingsOnly = false }: { readonly postingsOnly?: boolean } = {},
): AsyncGenerator<readonly LedgerLine[], void, void> {
  const rows = await rowsOf(history, period);
  const opening = (await sumsAsOf(history, rows.afterSeq)).sums;
  const closing = (await sumsAsOf(history, rows.toSeq)).sums;
  const balances: Record<BookAccount, number> = { ...opening };
  const debits: Record<BookAccount, number> = { ...NO_SUMS };
  const credits: Record<BookAccount, number> = { ...debits };
  const beginning = { seq: rows.afterSeq, time: period.start, date: nairobiDayOf(period.start), kind: "opening" };
  const none = { debitCents: undefined, creditCents: undefined, line: undefined };
  if (!postingsOnly) {
    yield BOOK_ACCOUNTS.map((account) => ({ ...beginning, ...none, account, balanceCents: opening[account] }));
  }
  for await (const lines of bookPages(history, rows)) {
    const part: LedgerLine[] = [];
    for (const line of lines) {
      const { debit, credit, amountCents } = line;
      if (debit === undefined || credit === undefined || amountCents === undefined) continue;
      debits[debit] += amountCents;
      credits[credit] += amountCents;
      balances[debit] += ASSETS.has(debit) ? amountCents : 0 - amountCents;
      part.push(sideOf(line, { account: debit, debitCents: amountCents, balanceCents: balances[debit] }));
      balances[credit] += ASSETS.has(credit) ? 0 - amountCents : amountCents;
      part.push(sideOf(line, { account: credit, creditCents: amountCents, balanceCents: balances[credit] }));
    }
    if (part.length > 0) yield part;
  }
  checkSums(balances, closing);
  if (postingsOnly) return;
  const end = { seq: rows.toSeq, time: period.end, date: lastDayOf(period), kind: "closing", line: undefined };
  yield BOOK_ACCOUNTS.map((account) => ({
    ...end,
    account,
    debitCents: debits[account],
    creditCents: credits[account],
    balanceCents: closing[account],
  }));
}

function bookPages(history: History, rows: PeriodRows): AsyncGenerator<readonly BookLine[], void, void> {
  const { organizationId, reads } = history;
  return pagesOf(history, rows, (request) => reads.bookLines(organizationId, request));
}

async function* pagesOf(
  { inTurn }: History,
  { afterSeq, toSeq }: PeriodRows,
  read: (request: { afterSeq: number; toSeq: number; size: number }) => ReturnType<History["reads"]["bookLines"]>,
): AsyncGenerator<readonly BookLine[], void, void> {
  let next: number | undefined = afterSeq;
  while (next !== undefined) {
    const request = { afterSeq: next, toSeq, size: LINES };
    const page: LinesPage = await inTurn(() => read(request));
    if (page.lines.length > 0) yield page.lines;
    next = page.nextAfterSeq;
  }
}

/** Returns the line of a row, without the balances after it. */
export function statementLineOf(line: BookLine): Omit<StatementLine, "balances"> {
  const { inCents, outCents } = movementOf(line);
  const given = (cents: number): number | undefined => (cents === 0 ? undefined : cents);
  const amounts = { inCents: given(inCents), outCents: given(outCents) };
  const { seq, recordedAt: time, kind } = line;
  return { seq, time, date: nairobiDayOf(time), kind, line, ...amounts };
}

/** The end does not belong to the period. */
function lastDayOf({ end }: Period): NairobiDay {
  return nairobiDayOf(toUnixMillis(end - 1));
}

function sideOf(
  line: BookLine,
  side: Pick<LedgerLine, "account" | "balanceCents"> & {
    readonly debitCents?: number;
    readonly creditCents?: number;
  },
): LedgerLine {
  const { seq, recordedAt: time, kind } = line;
  return { debitCents: undefined, creditCents: undefined, seq, time, date: nairobiDayOf(time), kind, line, ...side };
}

function checkSums(found: BookSums, closing: BookSums): void {
  for (const account of BOOK_ACCOUNTS) {
    if (found[account] === closing[account]) continue;
    const ends = `${String(found[account])} cents, and closes with ${String(closing[account])}`;
    throw new FootingError(`the lines of ${account} lead to ${ends}`);
  }
}
