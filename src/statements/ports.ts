import type { BookSums, Turnover } from "../domain/book.js";
import type { Closing } from "../domain/closing.js";
import type { Freeze } from "../domain/freeze.js";
import type { Balances, BookAccount, JournalKind } from "../domain/journal.js";
import type { TierName } from "../domain/limits/limits.js";
import type { ReserveFigure, ReserveRule } from "../domain/reserve.js";
import type { StatementForm } from "../domain/statement-form.js";
import type { TransactionType } from "../domain/transaction.js";
import type { Cents } from "../domain/values/cents.js";
import type { AccountId, ApiKeyId, FreezeId, OperatorId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { Month } from "../domain/values/month.js";
import type { UnixMillis } from "../domain/values/time.js";

/** A point in the past of a book: after the row `seq`, or before the time `before`. */
export type AsOf = { readonly seq: number } | { readonly before: UnixMillis };

/** A row of a book. `seq` is 0 before the first row. */
export interface Position {
  readonly seq: number;
  /** Undefined before the first row. */
  readonly recordedAt: UnixMillis | undefined;
}

/** The result of a read of a bounded number of rows. */
export interface Looked<Result> {
  readonly result: Result;
  /** The maximum number of rows that the read looked at: its cost. */
  readonly lookedAt: number;
}

/** One step of a walk back along the rows of an account. */
export interface WalkStep {
  /** The first row that the walk looked for. Undefined if it has not reached that row yet. */
  readonly found: WalkedRow | undefined;
  /** The row at which the next step begins. Undefined at the account's first row. */
  readonly next: number | undefined;
}

export interface WalkedRow extends Balances {
  readonly seq: number;
  readonly recordedAt: UnixMillis;
}

export interface FreezesPage {
  readonly freezes: readonly Freeze[];
  /** Undefined on the last page. */
  readonly nextAfterSeq: number | undefined;
}

/** A row of the journal, with the texts of its transaction. */
export interface BookLine {
  readonly seq: number;
  readonly recordedAt: UnixMillis;
  readonly kind: JournalKind;
  readonly accountId: AccountId | undefined;
  /** The caller's own id of the user. Undefined without an account, and after an erasure. */
  readonly userId: string | undefined;
  readonly transactionId: TransactionId | undefined;
  /** That of the transaction. */
  readonly rail: string | undefined;
  readonly debit: BookAccount | undefined;
  readonly credit: BookAccount | undefined;
  readonly amountCents: Cents | undefined;
  readonly balancesAfter: Balances | undefined;
  /** Empty if there is none. */
  readonly receipt: string;
  readonly reference: string;
  readonly description: string;
  readonly actor: string;
  readonly note: string;
  readonly detail: string | undefined;
  /** When the movement that the row corrects was recorded. Undefined if it corrects none. */
  readonly correctedAt: UnixMillis | undefined;
}

/** A line of the book, with what operators see beside it. */
export interface JournalListRow extends BookLine {
  /** The API key that the row created or revoked. */
  readonly keyId: ApiKeyId | undefined;
}

/** Which rows of a journal are listed. At most one of these is set; without one, all rows are. */
export interface JournalFilter {
  readonly accountId?: AccountId;
  readonly transactionId?: TransactionId;
  /** What the operator did, proposed or approved. */
  readonly operatorId?: OperatorId;
  /** Rows about the organization itself. */
  readonly own?: true;
}

export interface JournalRequest {
  readonly filter: JournalFilter;
  /** Only rows from this one on, up to the one before `endSeq`. */
  readonly startSeq: number;
  readonly endSeq: number;
  /** Of one of these types. */
  readonly types?: readonly JournalKind[] | undefined;
  /** Recorded at this time or later. */
  readonly createdAfter?: UnixMillis | undefined;
  /** Recorded before this time. */
  readonly createdBefore?: UnixMillis | undefined;
  /** The maximum number of rows, at least 1. */
  readonly size: number;
  /** The `nextBeforeSeq` of the page before. Undefined for the first page. */
  readonly beforeSeq: number | undefined;
}

/** Rows of a journal, newest first. */
export interface JournalPage {
  readonly rows: readonly JournalListRow[];
  /** Undefined on the last page. */
  readonly nextBeforeSeq: number | undefined;
}

/** A number of things, and whether there are more than were counted. */
export interface CappedCount {
  readonly count: number;
  readonly hasMore: boolean;
}

/** What waits for a person in a book. Each count ends at 1,000. */
export interface WaitingInBook {
  readonly flagged: CappedCount;
  /** The payments that are not complete, and are older than an hour. */
  readonly oldOpenPayments: CappedCount;
  /** The oldest payment that is not complete. Undefined if all are. */
  readonly oldestOpenPayment: { readonly id: TransactionId; readonly createdAt: UnixMillis } | undefined;
  readonly deposits: CappedCount;
}

/** A row of the journal that is about one account. */
export interface AccountJournalRow extends Omit<
  BookLine,
  "accountId" | "userId" | "rail" | "receipt" | "reference" | "description" | "detail" | "correctedAt"
> {
  /** Undefined in the account's first row. */
  readonly previousSeq: number | undefined;
  readonly freezeId: FreezeId | undefined;
  readonly balancesAfter: Balances;
  readonly contentHash: Uint8Array;
}

/** Lines of a period, oldest first. */
export interface LinesPage {
  readonly lines: readonly BookLine[];
  /** The page covers the period up to this row. Undefined if it covers the whole period. */
  readonly nextAfterSeq: number | undefined;
}

export interface LinesRequest {
  /** Only rows after this one. */
  readonly afterSeq: number;
  /** Only rows up to this one. */
  readonly toSeq: number;
  /** The maximum number of lines, at least 1. */
  readonly size: number;
}

/** The sums of a book after one of its rows. */
export interface SumsAt {
  readonly seq: number;
  readonly sums: BookSums;
  readonly turnover: Turnover;
}

/** The sums of a book after its last row, and the rules that its reserve has then. */
export interface CurrentSums extends Omit<SumsAt, "turnover"> {
  readonly recordedAt: UnixMillis;
  readonly reserveRules: readonly ReserveRule[];
}

/** Payments that are not complete. */
export interface OpenPayments {
  readonly type: TransactionType;
  readonly age: PaymentAge;
  readonly count: number;
  readonly amountCents: number;
  readonly oldestCreatedAt: UnixMillis;
}

export const PAYMENT_AGES = ["UNDER_ONE_HOUR", "UNDER_ONE_DAY", "ONE_DAY_OR_MORE"] as const;
export type PaymentAge = (typeof PAYMENT_AGES)[number];

export interface OpenPaymentsCount {
  readonly groups: readonly OpenPayments[];
  /** Whether there are more payments than were counted. */
  readonly hasMore: boolean;
}

/** What a rail reported about an account there. */
export interface ReportedBalance {
  readonly rail: string;
  readonly name: string;
  readonly currency: string;
  readonly availableCents: number;
  readonly reportedAt: UnixMillis;
}

/** The last figure of one place, with the row that recorded it. */
export interface RecordedFigure extends ReserveFigure {
  /** How the place's statements are read. Undefined of an earlier figure, and until it is set. */
  readonly statementForm: StatementForm | undefined;
  readonly recordedAt: UnixMillis;
  readonly seq: number;
}

/**
 * Reads the past of one cell's books. Each call reads a bounded number of rows. Rows never change,
 * so calls about the same rows agree, whatever is committed meanwhile.
 */
export interface HistoryReads {
  /** Resolves with the row that the point names, or with the last row of the book. */
  position(organizationId: OrganizationId, asOf: AsOf): Promise<Looked<Position>>;
  /**
   * Walks back along the account's rows to the last one up to `upToSeq`. Begins at the row `from`,
   * or at the nearest mark. Rejects if the account does not exist.
   */
  balances(
    organizationId: OrganizationId,
    walk: { readonly accountId: AccountId; readonly upToSeq: number; readonly from: number | undefined },
  ): Promise<Looked<WalkStep>>;
  /** Walks back to the row that closed the account, from the row `from` or from the newest. */
  closing(
    organizationId: OrganizationId,
    walk: { readonly accountId: AccountId; readonly from: number | undefined },
  ): Promise<Looked<WalkStep>>;
  /** The freezes that began after the row `afterSeq` and stood at the row `seq`, oldest first. */
  freezes(
    organizationId: OrganizationId,
    at: { readonly accountId: AccountId; readonly seq: number; readonly afterSeq: number },
  ): Promise<Looked<FreezesPage>>;
  /** The tier that the account got last, up to the row `seq`. Undefined if it never got one. */
  tier(
    organizationId: OrganizationId,
    at: { readonly accountId: AccountId; readonly seq: number },
  ): Promise<Looked<TierName | undefined>>;
  /** Lines of one account that move its money. */
  accountLines(
    organizationId: OrganizationId,
    request: LinesRequest & { readonly accountId: AccountId },
  ): Promise<Looked<LinesPage>>;
  /**
   * All rows of an account, newest first: at most `size` before the row `beforeSeq`, or the newest
   * ones. Returns fewer only if the walk has come to the account's first row, or if rows are gone
   * because the book moves.
   */
  accountRows(
    organizationId: OrganizationId,
    page: { readonly accountId: AccountId; readonly beforeSeq: number | undefined; readonly size: number },
  ): Promise<Looked<readonly AccountJournalRow[]>>;
  /** Rows of the journal, of which each page looks at 1,001 at most. */
  journal(organizationId: OrganizationId, request: JournalRequest): Promise<Looked<JournalPage>>;
  /** Looks at 4,006 rows at most. */
  waiting(organizationId: OrganizationId, now: UnixMillis): Promise<Looked<WaitingInBook>>;
  /** All lines of the book. */
  bookLines(organizationId: OrganizationId, request: LinesRequest): Promise<Looked<LinesPage>>;
  /** The sums after the row `seq`, or after a row before it, at which the next call goes on. */
  sums(
    organizationId: OrganizationId,
    at: { readonly seq: number; readonly from: SumsAt | undefined },
  ): Promise<Looked<SumsAt>>;
  /** The sums after the last row of the book, as they are now. */
  currentSums(organizationId: OrganizationId): Promise<CurrentSums>;
  openPayments(organizationId: OrganizationId, now: UnixMillis): Promise<Looked<OpenPaymentsCount>>;
  railBalances(organizationId: OrganizationId): Promise<readonly ReportedBalance[]>;
  reserveHoldings(organizationId: OrganizationId): Promise<readonly RecordedFigure[]>;
  /** The closing of a month. Undefined for a month that is open. */
  closedMonth(organizationId: OrganizationId, month: Month): Promise<Closing | undefined>;
}

/** Runs a bounded read when its turn comes. */
export type InTurn = <Result>(read: () => Promise<Looked<Result>>) => Promise<Result>;
