import type { EraseAccount, SetAccountTier } from "../../domain/commands.js";
import { DEFAULT_TIER, parseTierName, type TierName } from "../../domain/limits/limits.js";
import { type OrganizationId, parseAccountId } from "../../domain/values/ids.js";
import {
  EraseAccountRequest,
  EraseAccountResponse,
  SetAccountTierRequest,
  SetAccountTierResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { toAccountMessage } from "../messages/account.js";
import { parseFields } from "../messages/fields.js";
import { masked } from "../messages/masked.js";
import { act, type ActsOptions } from "./acts.js";
import { parseId, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { readOrganization } from "./reading.js";

/** The rpcs that change accounts of users. */
export function accountActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    setAccountTier: unary({
      request: SetAccountTierRequest,
      response: SetAccountTierResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          account_id: parseAccountId(request.account_id),
          tier: parseTierName(request.tier),
          note: parseNote(request.note),
        }),
      run: ({ organization_id: organizationId, account_id: accountId, tier, note }, caller) =>
        readOrganization(options, organizationId, async (found) => {
          // The ledger takes any name, and here it is often a slip.
          const tiers =
            (await options.cellOf(found).reads.limits(organizationId))?.tiers ?? new Map<TierName, unknown>();
          if (tier !== DEFAULT_TIER && !tiers.has(tier)) {
            const names = [DEFAULT_TIER, ...tiers.keys()].join(", ");
            const fields = [{ field: "tier", message: `must be one of ${names}`, code: "UNKNOWN_VALUE" } as const];
            return { kind: "refused", refusal: { reason: "INVALID_FIELD", fields } };
          }
          return act<SetAccountTier, SetAccountTierResponse>(
            options,
            { organizationId, fields: { name: "setAccountTier", accountId, tier, note } },
            caller,
            (account, rest) => ({ account: account && masked(toAccountMessage(account)), ...rest }),
          );
        }),
    }),
    eraseAccount: unary({
      request: EraseAccountRequest,
      response: EraseAccountResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          account_id: parseAccountId(request.account_id),
          note: parseNote(request.note),
        }),
      run: ({ organization_id: organizationId, account_id: accountId, note }, caller) =>
        act<EraseAccount, EraseAccountResponse>(
          options,
          { organizationId, fields: { name: "eraseAccount", accountId, note } },
          caller,
          (account, rest) => ({ account: account && masked(toAccountMessage(account)), ...rest }),
        ),
    }),
  };
}
