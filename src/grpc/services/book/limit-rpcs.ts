import {
  type LimitChanges,
  type LimitSet,
  parseMaxAmount,
  parseTierName,
  periodsOf,
  SET_PERIODS,
  type SetPeriod,
} from "../../../domain/limits/limits.js";
import type { LimitsInForce } from "../../../domain/limits/usage.js";
import { TRANSACTION_TYPES, type TransactionType } from "../../../domain/transaction.js";
import { type Cents, formatCents } from "../../../domain/values/cents.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { GetLimitsResponse, SetLimitsRequest } from "../../../gen/kesc/admin/v1/admin_service.js";
import type { LimitChange, LimitSetting, TierLimits } from "../../../gen/kesc/admin/v1/resources.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { parseRequiredWord } from "../../messages/enums.js";
import { fieldProblem, ifGiven, joined, type ParsedFields, parseFields, parseItems } from "../../messages/fields.js";
import { decidedAt, PERIODS, toLimitsMessage, TYPES } from "../../messages/limits.js";
import { fields, parseNote } from "../../messages/operators/fields.js";
import { type ActInput, actRoute } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

/** The rpcs about limits of amounts. */
export function limitRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const now = () => toUnixMillis(options.now());
  return {
    getLimits: organizationRpc("getLimits", {
      ...fields("account_id?"),
      run: async ({ accountId }, { organization }) => {
        const { reads } = options.cellOf(organization);
        const limits = await reads.limits(organization.id);
        const at = decidedAt(limits, now());
        if (accountId === undefined) return done(limitsOfOrganization(limits, at));
        const account = await reads.account(organization.id, accountId);
        if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
        return done({ limits: toLimitsMessage(limits, account, at), tiers: [] });
      },
    }),
    setLimits: actRoute(options)("setLimits", {
      parse: parseSetLimits,
      shown: (head) => limitsOfOrganization(head?.limits, now()),
    }),
  };
}

function parseSetLimits(request: SetLimitsRequest): ParsedFields<ActInput<"setLimits">> {
  const own = parseFields({
    tier: ifGiven(request.tier, parseTierName),
    changes: parseWhetherGiven(request),
    note: parseNote(request.note),
  });
  const given = joined(own, parseItems("changes", request.changes, parseChange), (value, items) => ({ value, items }));
  if (!given.ok) return given;
  const { value, items } = given.value;
  const repeated = items.findIndex(({ type, period }, index) =>
    items.slice(0, index).some((other) => other.type === type && other.period === period),
  );
  if (repeated >= 0)
    return fieldProblem(`changes[${String(repeated)}]`, "is about the limit of another one", "CONFLICT");
  const { tier, note } = value;
  return { ok: true, value: { tier, changes: request.remove ? undefined : changesOf(items), note } };
}

/** Limits are changed or removed: one of both. */
function parseWhetherGiven({ remove, changes }: SetLimitsRequest): Parsed<undefined> {
  if (remove && changes.length > 0) return unparsed("must be empty beside remove", "CONFLICT");
  if (!remove && changes.length === 0) return unparsed("is required unless remove is true", "REQUIRED");
  return parsed(undefined);
}

interface NewLimit {
  readonly type: TransactionType;
  readonly period: SetPeriod;
  readonly amount: Cents | "NONE";
}

function parseChange(change: LimitChange): ParsedFields<NewLimit> {
  const own = parseFields({
    type: parseRequiredWord(change.type, TRANSACTION_TYPES, TYPES),
    period: parseRequiredWord(change.period, SET_PERIODS, PERIODS),
    max_amount: parseMax(change),
  });
  if (!own.ok) return own;
  const { max_amount: amount, ...limit } = own.value;
  if (!periodsOf(limit.type).includes(limit.period))
    return fieldProblem("period", "must be transaction, day or month of a mint: only a redemption is held", "CONFLICT");
  return { ok: true, value: { ...limit, amount } };
}

function parseMax({ max_amount: amount, lift }: LimitChange): Parsed<Cents | "NONE"> {
  if (lift) return amount === undefined ? parsed("NONE") : unparsed("must not be sent beside lift", "CONFLICT");
  return amount === undefined ? unparsed("is required unless lift is true", "REQUIRED") : parseMaxAmount(amount);
}

function changesOf(given: readonly NewLimit[]): LimitChanges {
  const ofType = (asked: TransactionType): LimitChanges["MINT"] =>
    Object.fromEntries(given.filter(({ type }) => type === asked).map(({ period, amount }) => [period, amount]));
  return { MINT: ofType("MINT"), REDEEM: ofType("REDEEM") };
}

function limitsOfOrganization(
  limits: LimitsInForce | undefined,
  now: UnixMillis,
): Pick<GetLimitsResponse, "limits" | "tiers"> {
  const tiers = Array.from(limits?.tiers ?? [], ([tier, set]): TierLimits => ({ tier, limits: settingsOf(set) }));
  return { limits: toLimitsMessage(limits, undefined, now), tiers };
}

function settingsOf(set: LimitSet): LimitSetting[] {
  return TRANSACTION_TYPES.flatMap((type) =>
    periodsOf(type).flatMap((period) => {
      const amountCents = set[type][period];
      if (amountCents === undefined) return [];
      return [{ type: TYPES[type], period: PERIODS[period], max_amount: formatCents(amountCents) }];
    }),
  );
}
