import type { Account } from "../../domain/account.js";
import { limitsOfTier, SET_PERIODS } from "../../domain/limits/limits.js";
import { type LimitsInForce, limitStates, usageAt } from "../../domain/limits/usage.js";
import { TRANSACTION_TYPES } from "../../domain/transaction.js";
import { formatCents } from "../../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import {
  type Limit as LimitMessage,
  LimitPeriod as LimitPeriodMessage,
  type Limits as LimitsMessage,
} from "../../gen/kesc/v1/organization.js";
import { TransactionType as TransactionTypeMessage } from "../../gen/kesc/v1/transaction.js";
import { enumOf } from "./enums.js";
import { toTimestamp } from "./timestamp.js";

export const PERIODS = enumOf(LimitPeriodMessage, "LIMIT_PERIOD", SET_PERIODS);

export const TYPES = enumOf(TransactionTypeMessage, "TRANSACTION_TYPE", TRANSACTION_TYPES);

/** Returns the time at which a mint would be decided: the times of a book never decrease. */
export function decidedAt(limits: { readonly lastRecordedAt: UnixMillis } | undefined, now: UnixMillis): UnixMillis {
  return toUnixMillis(Math.max(now, limits?.lastRecordedAt ?? now));
}

/** The limits of the organization, or those of an account, as they are at `now`. */
export function toLimitsMessage(
  limits: LimitsInForce | undefined,
  account: Account | undefined,
  now: UnixMillis,
): LimitsMessage {
  return {
    account_id: account?.id,
    tier: account?.tier,
    counted_since: limits === undefined ? undefined : toTimestamp(limits.since),
    limits: limits === undefined ? [] : limitMessages(limits, account, now),
  };
}

function limitMessages(limits: LimitsInForce, account: Account | undefined, now: UnixMillis): LimitMessage[] {
  const set = account === undefined ? limits.organization : limitsOfTier(limits, account.tier);
  return limitStates(set, usageAt((account ?? limits).usage, now)).map((state) => ({
    type: TYPES[state.type],
    period: PERIODS[state.period],
    max_amount: formatCents(state.limitCents),
    used: state.usedCents === undefined ? undefined : formatCents(state.usedCents),
    remaining: formatCents(state.remainingCents),
    resets_at: state.resetsAt === undefined ? undefined : toTimestamp(state.resetsAt),
  }));
}
