import type { Account, AccountWithFreeze } from "../../domain/account.js";
import type { CreateAccount } from "../../domain/accounts/create-account.js";
import { parseTierName } from "../../domain/limits/limits.js";
import type { DepositReference } from "../../domain/values/deposit-reference.js";
import { parseEmailAddress } from "../../domain/values/email-address.js";
import type { AccountId, FreezeId } from "../../domain/values/ids.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import type { Account as AccountMessage } from "../../gen/kesc/v1/account.js";
import * as wire from "../../gen/kesc/v1/account_service.js";
import { accountAsOf } from "../../statements/as-of.js";
import type { Caller } from "../calls/call-context.js";
import { pageInTurn } from "../calls/list-turns.js";
import { done, refuse } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { parseAccountIds, parseAccountStatuses, parseDepositReference, toAccountMessage } from "../messages/account.js";
import { fields, fieldsOf, KINDS } from "../messages/field-kinds.js";
import { fieldProblem, ifPresent } from "../messages/fields.js";
import { parseFreezeReason, toFreezeMessage } from "../messages/freeze.js";
import {
  createDestination,
  type DestinationHandlersOptions,
  getDestination,
  listDestinations,
  removeDestination,
} from "./destination-rpcs.js";
import { asOfKinds, asOfOf, positionAt, readingHistory } from "./history/history-turns.js";
import { listOfAccount } from "./list-of-account.js";
import { numberWarnings } from "./number-warnings.js";
import { formatPageToken, LIST_KINDS, listOf } from "./paging.js";
import type { CellOf } from "./served-cell.js";
import { authorityOf, authorOf, submit } from "./submit.js";

export interface AccountHandlersOptions extends DestinationHandlersOptions {
  readonly newAccountId: () => AccountId;
  /** Makes random references: an account gets the first that is free. */
  readonly newDepositReferences: () => readonly DepositReference[];
  readonly newFreezeId: () => FreezeId;
}

/**
 * The rpcs of kesc.v1.AccountService. An rpc of the contract without a handler does not compile.
 */
export function accountHandlers(options: AccountHandlersOptions): Record<keyof wire.AccountServiceService, UnaryRoute> {
  const { cellOf } = options;
  return {
    createAccount: createAccount(options),
    getAccount: getAccount(options),
    listAccounts: listAccounts(options),
    updateAccount: updateAccount(cellOf),
    freezeAccount: freezeAccount(options),
    unfreezeAccount: unfreezeAccount(cellOf),
    listFreezes: listFreezes(options),
    closeAccount: closeAccount(cellOf),
    createDestination: createDestination(options),
    getDestination: getDestination(cellOf),
    listDestinations: listDestinations(options),
    removeDestination: removeDestination(cellOf),
  };
}

function createAccount({ cellOf, newAccountId, newDepositReferences }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: wire.CreateAccountRequest,
    response: wire.CreateAccountResponse,
    ...fields("user_id", "phone_number", "email"),
    run: (given, caller) => {
      const command: CreateAccount = {
        name: "createAccount",
        ...authorOf(caller),
        newAccountId: newAccountId(),
        ...given,
        depositReferences: newDepositReferences(),
        idempotencyKey: caller.idempotencyKey,
      };
      return submit(cellOf, caller, command, accountWithWarnings(cellOf, caller));
    },
  });
}

function getAccount({ cellOf, listTurns, now }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: wire.GetAccountRequest,
    response: wire.GetAccountResponse,
    ...fieldsOf({ ...KINDS, ...asOfKinds(now) })("account_id", "as_of_time", "as_of_sequence"),
    run: async ({ accountId, ...point }, caller) => {
      const { reads, history } = cellOf(caller.organization);
      const account = await reads.account(caller.organization.id, accountId);
      const notFound = refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
      if (account === undefined) return notFound;
      const asOf = asOfOf(point);
      if (asOf === undefined) return done({ account: toAccountMessage(account) });
      const { id: organizationId } = caller.organization;
      return readingHistory({ organizationId, caller, listTurns, reads: history }, async (own) => {
        const { seq } = await positionAt(own, asOf);
        const then = await accountAsOf(own, { account, seq });
        return then === undefined ? notFound : done({ account: toAccountMessage(then, seq) });
      });
    },
  });
}

const updated = fieldsOf({
  ...KINDS,
  email: (email: string | undefined) => ifPresent(email, parseEmailAddress),
  phone_number: (phone: string | undefined) => ifPresent(phone, parsePhoneNumber),
})("account_id", "phone_number", "email", "etag");

function updateAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.UpdateAccountRequest,
    response: wire.UpdateAccountResponse,
    parse: (request) => {
      const changed = updated.parse(request);
      if (!changed.ok || changed.value.phoneNumber !== undefined || changed.value.email !== undefined) return changed;
      return fieldProblem("phone_number", "is required if email is absent", "REQUIRED");
    },
    run: (changed, caller) => {
      const of = { ...authorOf(caller), isOfOperator: caller.who.kind !== "key" };
      const command = { name: "updateAccount", ...of, ...changed } as const;
      return submit(cellOf, caller, command, accountWithWarnings(cellOf, caller));
    },
  });
}

const listFields = fieldsOf({
  ...LIST_KINDS,
  account_ids: parseAccountIds,
  deposit_reference: parseDepositReference,
  statuses: { as: "status", parse: parseAccountStatuses },
  tier: parseTierName,
});

function listAccounts({ cellOf, listTurns }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListAccountsRequest,
    response: wire.ListAccountsResponse,
    ...listOf(
      "ListAccounts",
      listFields(
        "user_id?",
        "phone_number?",
        "email?",
        "statuses",
        "tier?",
        "deposit_reference?",
        "account_ids",
        "start",
        "end",
        "page_size",
        "page_token",
      ),
    ),
    run: ({ list, page }, caller) => {
      const { reads } = cellOf(caller.organization);
      return pageInTurn(
        { listTurns, caller },
        () => reads.accounts(list.organizationId, list.filters, page),
        ({ rows, nextBeforeSeq }) => ({
          accounts: rows.map((account) => toAccountMessage(account)),
          next_page_token: formatPageToken(list, nextBeforeSeq),
        }),
      );
    },
  });
}

const freezeFields = fieldsOf({ ...KINDS, reason: parseFreezeReason });

function freezeAccount({ cellOf, newFreezeId }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: wire.FreezeAccountRequest,
    response: wire.FreezeAccountResponse,
    ...freezeFields("account_id", "reason", "note"),
    run: (given, caller) => {
      const freeze = { newFreezeId: newFreezeId(), ...given, idempotencyKey: caller.idempotencyKey };
      return submit(cellOf, caller, { name: "freezeAccount", ...authorOf(caller), ...freeze }, accountAndFreeze);
    },
  });
}

function unfreezeAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.UnfreezeAccountRequest,
    response: wire.UnfreezeAccountResponse,
    ...fields("account_id", "freeze_id", "note"),
    run: (given, caller) => {
      const about = { ...authorOf(caller), authority: authorityOf(caller) };
      const command = { name: "unfreezeAccount", ...about, ...given } as const;
      return submit(cellOf, caller, command, ({ resource }) => accountAndFreeze(resource));
    },
  });
}

function listFreezes(options: AccountHandlersOptions): UnaryRoute {
  return listOfAccount(options, {
    rpc: "ListFreezes",
    request: wire.ListFreezesRequest,
    response: wire.ListFreezesResponse,
    read: (reads, ...list) => reads.freezes(...list),
    responseOf: (rows, next_page_token) => ({ freezes: rows.map(toFreezeMessage), next_page_token }),
  });
}

/** The number of an account that was created or changed may be one that the rails do not serve. */
function accountWithWarnings(cellOf: CellOf, { organization }: Pick<Caller, "organization">) {
  return (account: Account): { account: AccountMessage } => {
    const warnings = numberWarnings(cellOf(organization), account.organizationId, account.person?.phoneNumber);
    return { account: { ...toAccountMessage(account), warnings } };
  };
}

function accountAlone(account: Account): { account: AccountMessage } {
  return { account: toAccountMessage(account) };
}

function accountAndFreeze(account: AccountWithFreeze | undefined): wire.FreezeAccountResponse {
  return { account: account && toAccountMessage(account), freeze: account && toFreezeMessage(account.freeze) };
}

function closeAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.CloseAccountRequest,
    response: wire.CloseAccountResponse,
    ...fields("account_id", "note", "etag"),
    run: (given, caller) =>
      submit(cellOf, caller, { name: "closeAccount", ...authorOf(caller), ...given }, accountAlone),
  });
}
