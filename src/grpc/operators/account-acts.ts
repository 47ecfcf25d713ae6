import { typeidUnboxed } from "typeid-js";

import type { CloseAccount } from "../../domain/accounts/close-account.js";
import type { EraseAccount } from "../../domain/accounts/erase-account.js";
import type { FreezeAccount } from "../../domain/accounts/freeze-account.js";
import { REVEAL_REASONS, type RevealAccount, type RevealReason } from "../../domain/accounts/reveal-account.js";
import type { SetAccountTier } from "../../domain/accounts/set-account-tier.js";
import type { UnfreezeAccount } from "../../domain/accounts/unfreeze-account.js";
import type { UpdateAccount } from "../../domain/accounts/update-account.js";
import { parseKnownTier, parseTierName } from "../../domain/limits/limits.js";
import { parseEmailAddress } from "../../domain/values/email-address.js";
import { type FreezeId, type OrganizationId, parseAccountId, parseFreezeId } from "../../domain/values/ids.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import {
  CloseAccountRequest,
  CloseAccountResponse,
  EraseAccountRequest,
  EraseAccountResponse,
  FreezeAccountRequest,
  FreezeAccountResponse,
  RevealAccountRequest,
  RevealAccountResponse,
  SetAccountTierRequest,
  SetAccountTierResponse,
  UnfreezeAccountRequest,
  UnfreezeAccountResponse,
  UpdateAccountRequest,
  UpdateAccountResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { RevealReason as RevealReasonMessage } from "../../gen/kesc/admin/v1/resources.js";
import { toAccountMessage } from "../messages/account.js";
import { fieldProblem, ifPresent, parseFields } from "../messages/fields.js";
import { parseFreezeReason, toFreezeMessage } from "../messages/freeze.js";
import { act, actAlone, type ActsOptions } from "./acts.js";
import { parseEnumName, parseId, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { readOrganization } from "./reading.js";

/** The rpcs that change accounts of users. */
export function accountActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    ...freezes(unary, options),
    revealAccount: revealAccount(unary, options),
    updateAccount: updateAccount(unary, options),
    closeAccount: closeAccount(unary, options),
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
      actAlone<RevealAccount, RevealAccountResponse>(
        options,
        { organizationId, fields: { name: "revealAccount", accountId, reason, note } },
        caller,
        // The ledger has refused an account that was erased.
        ({ person }) => ({ phone_number: person?.phoneNumber ?? "", email: person?.email ?? "" }),
      ),
  });
}

function updateAccount(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: UpdateAccountRequest,
    response: UpdateAccountResponse,
    parse: (request) => {
      const fields = parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        account_id: parseAccountId(request.account_id),
        phone_number: ifPresent(request.phone_number, parsePhoneNumber),
        email: ifPresent(request.email, parseEmailAddress),
      });
      if (!fields.ok || fields.value.phone_number !== undefined || fields.value.email !== undefined) return fields;
      return fieldProblem("phone_number", "is required if email is absent", "REQUIRED");
    },
    run: ({ organization_id: organizationId, account_id: accountId, phone_number: phoneNumber, email }, caller) =>
      actAlone<UpdateAccount, UpdateAccountResponse>(
        options,
        { organizationId, fields: { name: "updateAccount", accountId, phoneNumber, email, etag: undefined } },
        caller,
        (account, { unchanged }) => ({ account: toAccountMessage(account), unchanged }),
      ),
  });
}

function closeAccount(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: CloseAccountRequest,
    response: CloseAccountResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        account_id: parseAccountId(request.account_id),
        note: parseNote(request.note),
      }),
    run: ({ organization_id: organizationId, account_id: accountId, note }, caller) =>
      actAlone<CloseAccount, CloseAccountResponse>(
        options,
        { organizationId, fields: { name: "closeAccount", accountId, note, etag: undefined } },
        caller,
        (account, { unchanged }) => ({ account: toAccountMessage(account), unchanged }),
      ),
  });
}

function freezes(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    freezeAccount: unary({
      request: FreezeAccountRequest,
      response: FreezeAccountResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          account_id: parseAccountId(request.account_id),
          reason: parseFreezeReason(request.reason),
          note: parseNote(request.note),
        }),
      run: ({ organization_id: organizationId, account_id: accountId, reason, note }, caller) => {
        const newFreezeId = typeidUnboxed("frz") as string as FreezeId;
        const { idempotencyKey } = caller;
        return actAlone<FreezeAccount, FreezeAccountResponse>(
          options,
          { organizationId, fields: { name: "freezeAccount", newFreezeId, accountId, reason, note, idempotencyKey } },
          caller,
          ({ freeze, ...account }, { unchanged }) => ({
            account: toAccountMessage(account),
            freeze: toFreezeMessage(freeze),
            unchanged,
          }),
        );
      },
    }),
    unfreezeAccount: unary({
      request: UnfreezeAccountRequest,
      response: UnfreezeAccountResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          account_id: parseAccountId(request.account_id),
          freeze_id: parseFreezeId(request.freeze_id),
          note: parseNote(request.note),
        }),
      run: ({ organization_id: organizationId, account_id: accountId, freeze_id: freezeId, note }, caller) =>
        act<UnfreezeAccount, UnfreezeAccountResponse>(
          options,
          { organizationId, fields: { name: "unfreezeAccount", accountId, freezeId, note } },
          caller,
          (account, rest) => ({ account: account && toAccountMessage(account), ...rest }),
        ),
    }),
  };
}
