import type { ApiKey, Organization } from "../../domain/api-key.js";
import { DIRECT_RAIL, type Rail } from "../../domain/transaction.js";
import { formatCents, MAX_CENTS, toCents } from "../../domain/values/cents.js";
import type { PayableAmounts } from "../../domain/values/payable-amounts.js";
import type {
  ApiKey as ApiKeyMessage,
  Organization as OrganizationMessage,
  PayableAmounts as PayableAmountsMessage,
  Rail as RailMessage,
} from "../../gen/kesc/v1/organization.js";
import type { RailAccount } from "../../settlement/ports/rail-accounts.js";
import { toTimestamp } from "./timestamp.js";

/** Every amount that a transaction can have. */
const ALL_AMOUNTS: PayableAmounts = { minCents: toCents(1), maxCents: MAX_CENTS, stepCents: toCents(1) };

/** The organization as its key sees it, with the accounts at rails that can be used now. */
export function toOrganizationMessage(
  { id, name, isSandbox, isSuspended, areReceiptsRequired }: Organization,
  key: ApiKey,
  { defaultRail, accounts }: { readonly defaultRail: Rail; readonly accounts: readonly RailAccount[] },
): OrganizationMessage {
  const rails = accounts.map(toRail).sort((left, right) => (left.name < right.name ? -1 : 1));
  const all = toAmounts(ALL_AMOUNTS);
  return {
    id,
    name,
    sandbox: isSandbox,
    suspended: isSuspended,
    default_rail: defaultRail,
    rails: [{ name: DIRECT_RAIL, mint: all, redeem: all, payouts_closed: false }, ...rails],
    api_key: toApiKey(key),
    receipts_required: areReceiptsRequired,
  };
}

function toRail({ rail, payouts }: RailAccount): RailMessage {
  return {
    name: rail.name,
    mint: toAmounts(rail.capabilities("MINT")),
    redeem: toAmounts(rail.capabilities("REDEEM")),
    payouts_closed: payouts === "closed",
  };
}

function toAmounts({ minCents, maxCents, stepCents }: PayableAmounts): PayableAmountsMessage {
  return { min: formatCents(minCents), max: formatCents(maxCents), step: formatCents(stepCents) };
}

function toApiKey({ id, name, scopes, createdAt, expiresAt }: ApiKey): ApiKeyMessage {
  return {
    id,
    name,
    scopes: [...scopes],
    created_at: toTimestamp(createdAt),
    expires_at: expiresAt === undefined ? undefined : toTimestamp(expiresAt),
  };
}
