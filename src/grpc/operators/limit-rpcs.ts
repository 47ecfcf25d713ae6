import type { SetLimits } from "../../domain/book/set-limits.js";
import {
  LIMIT_PERIODS,
  type LimitChanges,
  type LimitPeriod,
  type LimitSet,
  parseMaxAmount,
  parseTierName,
  type TierName,
} from "../../domain/limits/limits.js";
import type { LimitsInForce } from "../../domain/limits/usage.js";
import { TRANSACTION_TYPES, type TransactionType } from "../../domain/transaction.js";
import { type Cents, formatCents } from "../../domain/values/cents.js";
import { type OrganizationId, parseAccountId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import type { StatusReason } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import {
  GetLimitsRequest,
  GetLimitsResponse,
  SetLimitsRequest,
  SetLimitsResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import type { LimitChange, LimitSetting, TierLimits } from "../../gen/kesc/admin/v1/resources.js";
import { done, type RpcResult } from "../calls/rpc-result.js";
import { fieldProblem, ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import { decidedAt, PERIODS, toLimitsMessage, TYPES } from "../messages/limits.js";
import { act, type ActsOptions } from "./acts.js";
import { parseEnumName, parseId, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";

/** The rpcs about limits of amounts. */
export function limitRpcs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return { getLimits: getLimits(unary, options), setLimits: setLimits(unary, options) };
}

function getLimits(unary: OperatorUnary, { administration, cellOf, now }: ActsOptions): OperatorRoute {
  return unary({
    request: GetLimitsRequest,
    response: GetLimitsResponse,
    parse: ({ organization_id: id, account_id: accountId }) =>
      parseFields({ organization_id: parseId<OrganizationId>(id), account_id: ifGiven(accountId, parseAccountId) }),
    run: async ({ organization_id: organizationId, account_id: accountId }) => {
      const organization = await administration.organization(organizationId);
      if (organization === undefined) return unknownOrganization(organizationId);
      const { reads } = cellOf(organization);
      const limits = await reads.limits(organizationId);
      const at = decidedAt(limits, toUnixMillis(now()));
      if (accountId === undefined) return done(limitsOfOrganization(limits, at));
      const account = await reads.account(organizationId, accountId);
      if (account === undefined) return { kind: "refused", refusal: { reason: "ACCOUNT_NOT_FOUND", accountId } };
      return done({ limits: toLimitsMessage(limits, account, at), tiers: [] });
    },
  });
}

function setLimits(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: SetLimitsRequest,
    response: SetLimitsResponse,
    parse: parseSetLimits,
    run: ({ organizationId, ...given }, caller) =>
      act<SetLimits, SetLimitsResponse>(
        options,
        { organizationId, fields: { name: "setLimits", ...given } },
        caller,
        (head, rest) => ({ ...limitsOfOrganization(head?.limits, toUnixMillis(options.now())), ...rest }),
      ),
  });
}

function unknownOrganization(organizationId: OrganizationId): RpcResult<never> {
  return { kind: "refused", refusal: { reason: "ORGANIZATION_NOT_FOUND", organizationId } };
}

interface NewLimits {
  readonly organizationId: OrganizationId;
  readonly tier: TierName | undefined;
  /** Undefined removes the limits. */
  readonly changes: LimitChanges | undefined;
  readonly note: StatusReason;
}

function parseSetLimits(request: SetLimitsRequest): ParsedFields<NewLimits> {
  const changes = request.changes.map(parseChange);
  const fields = parseFields({
    organization_id: parseId<OrganizationId>(request.organization_id),
    tier: ifGiven(request.tier, parseTierName),
    changes: parseWhetherGiven(request),
    note: parseNote(request.note),
  });
  const problems = [...(fields.ok ? [] : fields.fields), ...changes.flatMap((each) => (each.ok ? [] : each.fields))];
  const given = changes.flatMap((each) => (each.ok ? [each.value] : []));
  const repeated = given.findIndex(({ type, period }, index) =>
    given.slice(0, index).some((other) => other.type === type && other.period === period),
  );
  if (!fields.ok || problems.length > 0) return { ok: false, fields: problems };
  if (repeated >= 0)
    return fieldProblem(`changes[${String(repeated)}]`, "is about the limit of another one", "CONFLICT");
  const { organization_id: organizationId, tier, note } = fields.value;
  return { ok: true, value: { organizationId, tier, changes: request.remove ? undefined : changesOf(given), note } };
}

/** Limits are changed or removed: one of both. */
function parseWhetherGiven({ remove, changes }: SetLimitsRequest): Parsed<undefined> {
  if (remove && changes.length > 0) return unparsed("must be empty beside remove", "CONFLICT");
  if (!remove && changes.length === 0) return unparsed("is required unless remove is true", "REQUIRED");
  return parsed(undefined);
}

interface NewLimit {
  readonly type: TransactionType;
  readonly period: LimitPeriod;
  readonly amount: Cents | "NONE";
}

function parseChange(change: LimitChange, index: number): ParsedFields<NewLimit> {
  const fields = parseFields({
    type: parseEnumName(change.type, TRANSACTION_TYPES, TYPES),
    period: parseEnumName(change.period, LIMIT_PERIODS, PERIODS),
    max_amount: parseMax(change),
  });
  if (fields.ok) {
    const { max_amount: amount, ...limit } = fields.value;
    return { ok: true, value: { ...limit, amount } };
  }
  const named = fields.fields.map(({ field, ...problem }) => ({
    field: `changes[${String(index)}].${field}`,
    ...problem,
  }));
  return { ok: false, fields: named };
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
    LIMIT_PERIODS.flatMap((period) => {
      const amountCents = set[type][period];
      if (amountCents === undefined) return [];
      return [{ type: TYPES[type], period: PERIODS[period], max_amount: formatCents(amountCents) }];
    }),
  );
}
