import type { Organization } from "../../domain/api-key.js";
import {
  type AmountLimits,
  type LimitChanges,
  type LimitPeriod,
  parseNewLimit,
  parseTierName,
  type TierName,
} from "../../domain/limits/limits.js";
import type { LimitsInForce } from "../../domain/limits/usage.js";
import { type Cents, formatCents } from "../../domain/values/cents.js";
import { type OrganizationId, parseAccountId, parseOrganizationId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import type { StatusReason } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import {
  GetLimitsRequest,
  GetLimitsResponse,
  SetLimitsRequest,
  SetLimitsResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import type { AmountLimits as AmountLimitsMessage, TierLimits } from "../../gen/kesc/admin/v1/resources.js";
import { actorOf } from "../../operators/operator.js";
import { done, type RpcResult } from "../calls/rpc-result.js";
import { ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import { decidedAt, toLimitsMessage } from "../messages/limits.js";
import type { ServedCell } from "../services/served-cell.js";
import { parseReason } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import type { HandlersOptions } from "./results.js";

export interface LimitRpcsOptions extends HandlersOptions {
  /** Returns the cell of an organization, whose ledger the server has for all calls. */
  readonly cellOf: (organization: Pick<Organization, "cell">) => Pick<ServedCell, "ledger" | "reads">;
}

/** The rpcs about limits of amounts. */
export function limitRpcs(unary: OperatorUnary, options: LimitRpcsOptions): Record<string, OperatorRoute> {
  return { getLimits: getLimits(unary, options), setLimits: setLimits(unary, options) };
}

function getLimits(unary: OperatorUnary, { administration, cellOf, now }: LimitRpcsOptions): OperatorRoute {
  return unary({
    request: GetLimitsRequest,
    response: GetLimitsResponse,
    parse: ({ organization_id: id, account_id: accountId }) =>
      parseFields({ organization_id: parseOrganizationId(id), account_id: ifGiven(accountId, parseAccountId) }),
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

/** The command is that of `kesc limits set`. Here its person is the operator who calls. */
function setLimits(unary: OperatorUnary, { administration, cellOf, now }: LimitRpcsOptions): OperatorRoute {
  return unary({
    request: SetLimitsRequest,
    response: SetLimitsResponse,
    parse: parseSetLimits,
    run: async ({ organizationId, ...given }, { key: by, deadline, trace }) => {
      const organization = await administration.organization(organizationId);
      if (organization === undefined) return unknownOrganization(organizationId);
      const outcome = await cellOf(organization).ledger.submit(
        { name: "setLimits", organizationId, actor: actorOf(by), person: by.name, ...given },
        deadline,
        { trace },
      );
      if (outcome.kind === "refused") return outcome;
      const { resource: book, replayed } = outcome;
      return done({ ...limitsOfOrganization(book.limits, toUnixMillis(now())), already_so: replayed });
    },
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
  readonly reason: StatusReason;
}

function parseSetLimits({ mint, redeem, ...request }: SetLimitsRequest): ParsedFields<NewLimits> {
  const fields = parseFields({
    organization_id: parseOrganizationId(request.organization_id),
    tier: ifGiven(request.tier, parseTierName),
    "mint.per_transaction": parseChange(mint?.per_transaction),
    "mint.per_day": parseChange(mint?.per_day),
    "mint.per_month": parseChange(mint?.per_month),
    "redeem.per_transaction": parseChange(redeem?.per_transaction),
    "redeem.per_day": parseChange(redeem?.per_day),
    "redeem.per_month": parseChange(redeem?.per_month),
    remove: parseRemove(request.remove, [mint, redeem]),
    reason: parseReason(request.reason),
  });
  if (!fields.ok) return fields;
  const { organization_id: organizationId, tier, remove, reason, ...given } = fields.value;
  const changes = {
    MINT: changesOf({
      TRANSACTION: given["mint.per_transaction"],
      DAY: given["mint.per_day"],
      MONTH: given["mint.per_month"],
    }),
    REDEEM: changesOf({
      TRANSACTION: given["redeem.per_transaction"],
      DAY: given["redeem.per_day"],
      MONTH: given["redeem.per_month"],
    }),
  };
  return { ok: true, value: { organizationId, tier, changes: remove ? undefined : changes, reason } };
}

/** An absent field of the request decodes to the empty text. Such a limit stays as it is. */
function parseChange(unchecked = ""): Parsed<Cents | "NONE" | undefined> {
  return ifGiven(unchecked, parseNewLimit);
}

function parseRemove(remove: boolean, given: readonly (AmountLimitsMessage | undefined)[]): Parsed<boolean> {
  const hasLimits = given.some((each) => [each?.per_transaction, each?.per_day, each?.per_month].some(Boolean));
  if (remove && hasLimits) return unparsed("must be false beside new limits", "CONFLICT");
  if (!remove && !hasLimits) return unparsed("must be true if no new limit is given", "REQUIRED");
  return parsed(remove);
}

function changesOf(given: Readonly<Record<LimitPeriod, Cents | "NONE" | undefined>>): LimitChanges["MINT"] {
  return Object.fromEntries(Object.entries(given).filter(([, amount]) => amount !== undefined));
}

function limitsOfOrganization(
  limits: LimitsInForce | undefined,
  now: UnixMillis,
): Pick<GetLimitsResponse, "limits" | "tiers"> {
  const tiers = Array.from(limits?.tiers ?? [], ([tier, { MINT, REDEEM }]): TierLimits => ({
    tier,
    mint: toAmountLimits(MINT),
    redeem: toAmountLimits(REDEEM),
  }));
  return { limits: toLimitsMessage(limits, undefined, now), tiers };
}

function toAmountLimits({ TRANSACTION, DAY, MONTH }: AmountLimits): AmountLimitsMessage {
  return { per_transaction: textOf(TRANSACTION), per_day: textOf(DAY), per_month: textOf(MONTH) };
}

function textOf(amountCents: Cents | undefined): string {
  return amountCents === undefined ? "" : formatCents(amountCents);
}
