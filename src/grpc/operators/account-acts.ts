import type { EraseAccount } from "../../domain/accounts/erase-account.js";
import { REVEAL_REASONS, type RevealAccount, type RevealReason } from "../../domain/accounts/reveal-account.js";
import type { SetAccountTier } from "../../domain/accounts/set-account-tier.js";
import { parseKnownTier, parseTierName } from "../../domain/limits/limits.js";
import { type OrganizationId, parseAccountId } from "../../domain/values/ids.js";
import {
  EraseAccountRequest,
  EraseAccountResponse,
  RevealAccountRequest,
  RevealAccountResponse,
  SetAccountTierRequest,
  SetAccountTierResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { RevealReason as RevealReasonMessage } from "../../gen/kesc/admin/v1/resources.js";
import { actorOf } from "../../operators/operator.js";
import { done } from "../calls/rpc-result.js";
import { toAccountMessage } from "../messages/account.js";
import { parseFields } from "../messages/fields.js";
import { act, type ActsOptions, submitAct } from "./acts.js";
import { parseEnumName, parseId, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { readOrganization } from "./reading.js";

/** The rpcs that change accounts of users. */
export function accountActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    revealAccount: revealAccount(unary, options),
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
          const known = parseKnownTier(tier, await options.cellOf(found).reads.limits(organizationId));
          const fields = parseFields({ tier: known });
          if (!fields.ok) return { kind: "refused", refusal: { reason: "INVALID_FIELD", fields: fields.fields } };
          return act<SetAccountTier, SetAccountTierResponse>(
            options,
            { organizationId, fields: { name: "setAccountTier", accountId, tier, note } },
            caller,
            (account, rest) => ({ account: account && toAccountMessage(account), ...rest }),
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
          (account, rest) => ({ account: account && toAccountMessage(account), ...rest }),
        ),
    }),
  };
}

const REVEALS = {
  customer_called: RevealReasonMessage.REVEAL_REASON_CUSTOMER_CALLED,
  payment_delivery: RevealReasonMessage.REVEAL_REASON_PAYMENT_DELIVERY,
  fraud_check: RevealReasonMessage.REVEAL_REASON_FRAUD_CHECK,
  legal_request: RevealReasonMessage.REVEAL_REASON_LEGAL_REQUEST,
  other: RevealReasonMessage.REVEAL_REASON_OTHER,
} as const satisfies Record<RevealReason, RevealReasonMessage>;

function revealAccount(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: RevealAccountRequest,
    response: RevealAccountResponse,
    showsPersonalData: true,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        account_id: parseAccountId(request.account_id),
        reason: parseEnumName(request.reason, REVEAL_REASONS, REVEALS),
        note: parseNote(request.note),
      }),
    run: ({ organization_id: organizationId, account_id: accountId, reason, note }, caller) =>
      readOrganization(options, organizationId, async (organization) => {
        const by = { organizationId, actor: actorOf(caller.key) };
        const command: RevealAccount = { name: "revealAccount", ...by, accountId, reason, note };
        const outcome = await submitAct(options, organization, command, caller);
        if (outcome.kind === "refused") return outcome;
        // The ledger has refused an account that was erased.
        const { phoneNumber = "", email = "" } = outcome.resource.person ?? {};
        return done({ phone_number: phoneNumber, email });
      }),
  });
}
