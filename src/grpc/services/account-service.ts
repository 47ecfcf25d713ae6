import type { AccountWithFreeze } from "../../domain/account.js";
import { parseTierName } from "../../domain/limits/limits.js";
import type { DepositReference } from "../../domain/values/deposit-reference.js";
import { parseEmailAddress } from "../../domain/values/email-address.js";
import { type AccountId, type FreezeId, parseAccountId, parseFreezeId } from "../../domain/values/ids.js";
import { parsed } from "../../domain/values/parsed.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import { parseStatusReason, parseUserId } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Account as AccountMessage } from "../../gen/kesc/v1/account.js";
import {
  type AccountServiceService,
  CloseAccountRequest,
  CloseAccountResponse,
  CreateAccountRequest,
  CreateAccountResponse,
  FreezeAccountRequest,
  FreezeAccountResponse,
  GetAccountRequest,
  GetAccountResponse,
  ListAccountsRequest,
  ListAccountsResponse,
  ListFreezesRequest,
  ListFreezesResponse,
  UnfreezeAccountRequest,
  UnfreezeAccountResponse,
  UpdateAccountRequest,
  UpdateAccountResponse,
} from "../../gen/kesc/v1/account_service.js";
import type { Freeze as FreezeMessage } from "../../gen/kesc/v1/freeze.js";
import { accountAsOf } from "../../statements/as-of.js";
import { parseRange } from "../../statements/period.js";
import { actorOf } from "../calls/call-context.js";
import { done, resultOf } from "../calls/rpc-result.js";
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
import { formatPageToken, type PagedList, pageOf, parsePageSize, parsePageToken } from "./paging.js";
import { authorityOf } from "./payment-rpcs.js";
import type { CellOf } from "./served-cell.js";

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
export function accountHandlers(options: AccountHandlersOptions): Record<keyof AccountServiceService, UnaryRoute> {
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
    request: CreateAccountRequest,
    response: CreateAccountResponse,
    parse: (request) =>
      parseFields({
        user_id: parseUserId(request.user_id),
        phone_number: parsePhoneNumber(request.phone_number),
        email: parseEmailAddress(request.email),
      }),
    run: async (input, { key, idempotencyKey, deadline, trace }) => {
      const outcome = await cellOf(key).ledger.submit(
        {
          name: "createAccount",
          organizationId: key.organizationId,
          actor: actorOf(key),
          newAccountId: newAccountId(),
          userId: input.user_id,
          phoneNumber: input.phone_number,
          email: input.email,
          depositReferences: newDepositReferences(),
          idempotencyKey,
        },
        deadline,
        { trace },
      );
      return resultOf(outcome, (account) => ({ account: toAccountMessage(account) }));
    },
  });
}

function getAccount({ cellOf, listTurns, now }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: GetAccountRequest,
    response: GetAccountResponse,
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
    request: UpdateAccountRequest,
    response: UpdateAccountResponse,
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
    run: async ({ account_id: accountId, phone_number: phoneNumber, email, etag }, { key, deadline, trace }) => {
      const { organizationId } = key;
      const outcome = await cellOf(key).ledger.submit(
        { name: "updateAccount", organizationId, actor: actorOf(key), accountId, phoneNumber, email, etag },
        deadline,
        { trace },
      );
      return resultOf(outcome, (account) => ({ account: toAccountMessage(account) }));
    },
  });
}

function listAccounts({ cellOf, listTurns }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: ListAccountsRequest,
    response: ListAccountsResponse,
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
      const { user_id, phone_number, email, statuses, tier, deposit_reference } = fields.value;
      const { start, end, page_size, page_token } = fields.value;
      const filters = given({
        userId: user_id,
        phoneNumber: phone_number,
        email,
        status: statuses,
        tier,
        depositReference: deposit_reference,
        createdAfter: start,
        createdBefore: end,
      });
      const list: PagedList = { rpc: "ListAccounts", organizationId: key.organizationId, filters };
      const page = pageOf(list, { size: page_size, token: page_token });
      return page.ok ? { ok: true, value: { list, filters, page: page.value } } : page;
    },
    run: async ({ list, filters, page }, caller) => {
      const { reads } = cellOf(caller.key);
      const read = await listTurns.page(caller, () => reads.accounts(list.organizationId, filters, page));
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
    request: FreezeAccountRequest,
    response: FreezeAccountResponse,
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        reason: parseFreezeReason(request.reason),
        note: parseStatusReason(request.note),
      }),
    run: async ({ account_id: accountId, reason, note }, { key, idempotencyKey, deadline, trace }) => {
      const { organizationId } = key;
      const command = { organizationId, actor: actorOf(key), accountId, reason, note, idempotencyKey };
      const outcome = await cellOf(key).ledger.submit(
        { name: "freezeAccount", newFreezeId: newFreezeId(), ...command },
        deadline,
        { trace },
      );
      return resultOf(outcome, accountAndFreeze);
    },
  });
}

function unfreezeAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: UnfreezeAccountRequest,
    response: UnfreezeAccountResponse,
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        freeze_id: parseFreezeId(request.freeze_id),
        note: parseStatusReason(request.note),
      }),
    run: async ({ account_id: accountId, freeze_id: freezeId, note }, { key, deadline, trace }) => {
      const about = { organizationId: key.organizationId, actor: actorOf(key), authority: authorityOf(key) };
      const outcome = await cellOf(key).ledger.submit(
        { name: "unfreezeAccount", ...about, accountId, freezeId, note },
        deadline,
        { trace },
      );
      // No key needs a second person for it, so there is always an account.
      return resultOf(outcome, ({ resource }) => accountAndFreeze(resource as AccountWithFreeze));
    },
  });
}

function listFreezes(options: AccountHandlersOptions): UnaryRoute {
  return listOfAccount(options, {
    rpc: "ListFreezes",
    request: ListFreezesRequest,
    response: ListFreezesResponse,
    read: (reads, ...list) => reads.freezes(...list),
    responseOf: (rows, next_page_token) => ({ freezes: rows.map(toFreezeMessage), next_page_token }),
  });
}

function accountAndFreeze(account: AccountWithFreeze): { account: AccountMessage; freeze: FreezeMessage } {
  return { account: toAccountMessage(account), freeze: toFreezeMessage(account.freeze) };
}

function closeAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: CloseAccountRequest,
    response: CloseAccountResponse,
    parse: (request) =>
      parseFields({
        account_id: parseAccountId(request.account_id),
        note: parseStatusReason(request.note),
        etag: parsed(request.etag),
      }),
    run: async ({ account_id: accountId, note, etag }, { key, deadline, trace }) => {
      const outcome = await cellOf(key).ledger.submit(
        { name: "closeAccount", organizationId: key.organizationId, actor: actorOf(key), accountId, note, etag },
        deadline,
        { trace },
      );
      return resultOf(outcome, (account) => ({ account: toAccountMessage(account) }));
    },
  });
}
