import type { Account, AccountWithFreeze } from "../../domain/account.js";
import type { CreateAccount } from "../../domain/accounts/create-account.js";
import { parseTierName } from "../../domain/limits/limits.js";
import type { DepositReference } from "../../domain/values/deposit-reference.js";
import { parseEmailAddress } from "../../domain/values/email-address.js";
import { type AccountId, type FreezeId, parseAccountId, parseFreezeId } from "../../domain/values/ids.js";
import { parsed } from "../../domain/values/parsed.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import { parseStatusReason, parseUserId } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Account as AccountMessage } from "../../gen/kesc/v1/account.js";
import * as wire from "../../gen/kesc/v1/account_service.js";
import { accountAsOf } from "../../statements/as-of.js";
import { parseRange } from "../../statements/period.js";
import { done } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { parseAccountStatuses, parseDepositReference, toAccountMessage } from "../messages/account.js";
import { fieldProblem, given, ifGiven, ifPresent, parseFields } from "../messages/fields.js";
import { parseFreezeReason, toFreezeMessage } from "../messages/freeze.js";
import {
  createDestination,
  type DestinationHandlersOptions,
  getDestination,
  listDestinations,
  removeDestination,
} from "./destination-rpcs.js";
import { asOfOf, parseAsOfSequence, parseAsOfTime, positionAt, readingHistory } from "./history/history-turns.js";
import { listOfAccount } from "./list-of-account.js";
import { askedPage, formatPageToken, parsePageSize, parsePageToken } from "./paging.js";
import type { CellOf } from "./served-cell.js";
import { authorityOf, authorOf, submit } from "./submit.js";

export interface AccountHandlersOptions extends DestinationHandlersOptions {
  readonly now: () => UnixMillis;
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
    parse: (request) =>
      parseFields({
        user_id: parseUserId(request.user_id),
        phone_number: parsePhoneNumber(request.phone_number),
        email: parseEmailAddress(request.email),
      }),
    run: (input, caller) => {
      const command: CreateAccount = {
        name: "createAccount",
        ...authorOf(caller.key),
        newAccountId: newAccountId(),
        userId: input.user_id,
        phoneNumber: input.phone_number,
        email: input.email,
        depositReferences: newDepositReferences(),
        idempotencyKey: caller.idempotencyKey,
      };
      return submit(cellOf, caller, command, accountAlone);
    },
  });
}

function getAccount({ cellOf, listTurns, now }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: wire.GetAccountRequest,
    response: wire.GetAccountResponse,
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        as_of_time: parseAsOfTime(request.as_of_time, now()),
        as_of_sequence: parseAsOfSequence(request.as_of_sequence, request.as_of_time),
      }),
    run: async ({ account_id: accountId, ...point }, caller) => {
      const { reads, history } = cellOf(caller.key);
      const account = await reads.account(caller.key.organizationId, accountId);
      const notFound = { kind: "refused", refusal: { reason: "ACCOUNT_NOT_FOUND", accountId } } as const;
      if (account === undefined) return notFound;
      const asOf = asOfOf(point);
      if (asOf === undefined) return done({ account: toAccountMessage(account) });
      const { organizationId } = caller.key;
      return readingHistory({ organizationId, caller, listTurns, reads: history }, async (own) => {
        const { seq } = await positionAt(own, asOf);
        const then = await accountAsOf(own, { account, seq });
        return then === undefined ? notFound : done({ account: toAccountMessage(then, seq) });
      });
    },
  });
}

function updateAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.UpdateAccountRequest,
    response: wire.UpdateAccountResponse,
    parse: (request) => {
      const fields = parseFields({
        account_id: parseAccountId(request.account_id),
        phone_number: ifPresent(request.phone_number, parsePhoneNumber),
        email: ifPresent(request.email, parseEmailAddress),
        etag: parsed(request.etag),
      });
      if (!fields.ok || fields.value.phone_number !== undefined || fields.value.email !== undefined) return fields;
      return fieldProblem("phone_number", "is required if email is absent", "REQUIRED");
    },
    run: ({ account_id: accountId, phone_number: phoneNumber, email, etag }, caller) => {
      const changed = { accountId, phoneNumber, email, etag };
      return submit(cellOf, caller, { name: "updateAccount", ...authorOf(caller.key), ...changed }, accountAlone);
    },
  });
}

function listAccounts({ cellOf, listTurns }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: wire.ListAccountsRequest,
    response: wire.ListAccountsResponse,
    parse: (request, { key }) => {
      const fields = parseFields({
        user_id: ifGiven(request.user_id, parseUserId),
        phone_number: ifGiven(request.phone_number, parsePhoneNumber),
        email: ifGiven(request.email, parseEmailAddress),
        statuses: parseAccountStatuses(request.statuses),
        tier: ifGiven(request.tier, parseTierName),
        deposit_reference: ifGiven(request.deposit_reference, parseDepositReference),
        ...parseRange(request),
        page_size: parsePageSize(request.page_size),
        page_token: parsePageToken(request.page_token),
      });
      if (!fields.ok) return fields;
      const asked = fields.value;
      const filters = given({
        userId: asked.user_id,
        phoneNumber: asked.phone_number,
        email: asked.email,
        status: asked.statuses,
        tier: asked.tier,
        depositReference: asked.deposit_reference,
        createdAfter: asked.start,
        createdBefore: asked.end,
      });
      return askedPage({ rpc: "ListAccounts", organizationId: key.organizationId, filters }, asked);
    },
    run: async ({ list, page }, caller) => {
      const { reads } = cellOf(caller.key);
      const read = await listTurns.page(caller, () => reads.accounts(list.organizationId, list.filters, page));
      if ("reason" in read) return { kind: "refused", refusal: read };
      const { rows, nextBeforeSeq } = read;
      return done({
        accounts: rows.map((account) => toAccountMessage(account)),
        next_page_token: formatPageToken(list, nextBeforeSeq),
      });
    },
  });
}

function freezeAccount({ cellOf, newFreezeId }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: wire.FreezeAccountRequest,
    response: wire.FreezeAccountResponse,
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        reason: parseFreezeReason(request.reason),
        note: parseStatusReason(request.note),
      }),
    run: ({ account_id: accountId, reason, note }, caller) => {
      const { idempotencyKey } = caller;
      const freeze = { newFreezeId: newFreezeId(), accountId, reason, note, idempotencyKey };
      return submit(cellOf, caller, { name: "freezeAccount", ...authorOf(caller.key), ...freeze }, accountAndFreeze);
    },
  });
}

function unfreezeAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.UnfreezeAccountRequest,
    response: wire.UnfreezeAccountResponse,
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        freeze_id: parseFreezeId(request.freeze_id),
        note: parseStatusReason(request.note),
      }),
    run: ({ account_id: accountId, freeze_id: freezeId, note }, caller) => {
      const about = { ...authorOf(caller.key), authority: authorityOf(caller.key) };
      const command = { name: "unfreezeAccount", ...about, accountId, freezeId, note } as const;
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
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        note: parseStatusReason(request.note),
        etag: parsed(request.etag),
      }),
    run: ({ account_id: accountId, note, etag }, caller) =>
      submit(cellOf, caller, { name: "closeAccount", ...authorOf(caller.key), accountId, note, etag }, accountAlone),
  });
}
