import type { BookSums, Turnover } from "../../../domain/book.js";
import {
  type JudgedRule,
  owedCents,
  RESERVE_KINDS,
  type ReserveRule,
  RULE_STATES,
  seenReserve,
} from "../../../domain/reserve.js";
import { TRANSACTION_TYPES } from "../../../domain/transaction.js";
import { formatCents } from "../../../domain/values/cents.js";
import { endOfDay } from "../../../domain/values/nairobi-day.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import {
  type Backing as BackingMessage,
  PaymentAge as PaymentAgeMessage,
  type RailBalance as RailBalanceMessage,
  type ReserveHolding as ReserveHoldingMessage,
  ReserveKind as ReserveKindMessage,
  type ReserveRule as ReserveRuleMessage,
  RuleState as RuleStateMessage,
  type Supply as SupplyMessage,
} from "../../../gen/kesc/v1/supply.js";
import { TransactionType as TransactionTypeMessage } from "../../../gen/kesc/v1/transaction.js";
import {
  type OpenPaymentsCount,
  PAYMENT_AGES,
  type RecordedFigure,
  type ReportedBalance,
} from "../../../statements/ports.js";
import { enumOf } from "../enums.js";
import { toTimestamp } from "../timestamp.js";
import { toStatementForm } from "./statement-form.js";

/** What is known about the shillings of a book now, beside its sums. */
export interface Backing {
  readonly openPayments: OpenPaymentsCount;
  readonly railBalances: readonly ReportedBalance[];
  readonly reserveHoldings: readonly RecordedFigure[];
  readonly rules: readonly JudgedRule[];
}

interface SupplyFacts {
  readonly sums: BookSums;
  /** Undefined for the sums as they are now. */
  readonly turnover: Turnover | undefined;
  readonly seq: number;
  /** Undefined before the first row. */
  readonly recordedAt: UnixMillis | undefined;
  /** Undefined for a point in the past. */
  readonly backing: Backing | undefined;
  /** The figures of a point in the past. */
  readonly figures: readonly RecordedFigure[];
  readonly now: UnixMillis;
}

const AGES = enumOf(PaymentAgeMessage, "PAYMENT_AGE", PAYMENT_AGES);
export const RESERVE_KIND_MESSAGES = enumOf(ReserveKindMessage, "RESERVE_KIND", RESERVE_KINDS);
const STATES = enumOf(RuleStateMessage, "RULE_STATE", RULE_STATES);
const TYPES = enumOf(TransactionTypeMessage, "TRANSACTION_TYPE", TRANSACTION_TYPES);

export function toSupplyMessage({
  sums,
  turnover,
  seq,
  recordedAt,
  backing,
  figures,
  now,
}: SupplyFacts): SupplyMessage {
  return {
    in_circulation: formatSigned(sums.available + sums.held),
    available: formatSigned(sums.available),
    held: formatSigned(sums.held),
    reserve: formatSigned(sums.reserve),
    shortfall: formatSigned(sums.shortfall),
    unallocated: formatSigned(sums.unallocated),
    charges: formatSigned(sums.charges),
    owed: formatSigned(owedCents(sums)),
    minted: turnover === undefined ? undefined : formatCents(turnover.minted),
    redeemed: turnover === undefined ? undefined : formatCents(turnover.redeemed),
    as_of_sequence: seq === 0 ? undefined : BigInt(seq),
    as_of_time: recordedAt === undefined ? undefined : toTimestamp(recordedAt),
    backing: backing === undefined ? undefined : toBackingMessage(backing, { sums, now }),
    reserve_holdings: figures.map((figure) => toReserveHolding(figure, now)),
  };
}

function toBackingMessage(
  { openPayments, railBalances, reserveHoldings, rules }: Backing,
  { sums, now }: Pick<SupplyFacts, "sums" | "now">,
): BackingMessage {
  const reserve = seenReserve(owedCents(sums), { balances: railBalances, places: reserveHoldings });
  return {
    seen: reserve && formatSigned(reserve.seenCents),
    difference: reserve && formatSigned(reserve.differenceCents),
    open_payments: openPayments.groups.map((group) => ({
      type: TYPES[group.type],
      age: AGES[group.age],
      count: BigInt(group.count),
      amount: formatSigned(group.amountCents),
      oldest_created_at: toTimestamp(group.oldestCreatedAt),
    })),
    has_more_open_payments: openPayments.hasMore,
    rail_balances: railBalances.map((balance) => toRailBalance(balance, now)),
    reserve_holdings: reserveHoldings.map((figure) => toReserveHolding(figure, now)),
    reserve_rules: rules.map(({ rule, state, amountCents, asOfDay }) => ({
      rule: toReserveRule(rule),
      state: STATES[state],
      amount: formatCents(amountCents),
      as_of_day: asOfDay,
    })),
  };
}

export function toRailBalance(
  { rail, name, currency, availableCents, reportedAt }: ReportedBalance,
  now: UnixMillis,
): RailBalanceMessage {
  return {
    rail,
    name,
    currency,
    available: formatSigned(availableCents),
    reported_at: toTimestamp(reportedAt),
    age_seconds: ageOf(reportedAt, now),
  };
}

export function toReserveHolding(figure: RecordedFigure, now: UnixMillis): ReserveHoldingMessage {
  return {
    place: figure.place,
    amount: formatCents(figure.amountCents),
    as_of_day: figure.asOfDay,
    evidence: figure.evidence,
    sequence: BigInt(figure.seq),
    recorded_at: toTimestamp(figure.recordedAt),
    age_seconds: ageOf(endOfDay(figure.asOfDay), now),
    kind: RESERVE_KIND_MESSAGES[figure.kind],
    document_sha256: figure.documentSha256,
    matures_on: figure.maturesOn,
    statement_form: figure.statementForm && toStatementForm(figure.statementForm),
  };
}

export function toReserveRule({ kind, shareMin, shareMax, daysMax, staleAfterDays }: ReserveRule): ReserveRuleMessage {
  return {
    kind: RESERVE_KIND_MESSAGES[kind],
    share_min: shareMin,
    share_max: shareMax,
    days_max: daysMax,
    stale_after_days: staleAfterDays,
  };
}

/** The age of a figure in whole seconds. A figure for a day that is not over has none. */
function ageOf(at: UnixMillis, now: UnixMillis): bigint {
  return BigInt(Math.floor(Math.max(0, now - at) / 1_000));
}

/** Formats an amount that may be negative. */
export function formatSigned(cents: number | bigint): string {
  return cents < 0 ? `-${formatCents(-cents)}` : formatCents(cents);
}
