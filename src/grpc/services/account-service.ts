import type { ChangeAccountStatus } from "../../domain/commands.js";
import { parseEmailAddress } from "../../domain/values/email-address.js";
import { type AccountId, parseAccountId } from "../../domain/values/ids.js";
import { parsePhoneNumber } from "../../domain/values/phone-number.js";
import { parseStatusReason, parseUserId, type StatusReason } from "../../domain/values/text.js";
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
  UnfreezeAccountRequest,
  UnfreezeAccountResponse,
  UpdateAccountRequest,
  UpdateAccountResponse,
} from "../../gen/kesc/v1/account_service.js";
import { actorOf } from "../calls/call-context.js";
import { done, resultOf } from "../calls/rpc-result.js";
import { unary, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import { parseAccountStatuses, toAccountMessage } from "../messages/account.js";
import { fieldProblem, given, ifGiven, ifPresent, parseFields } from "../messages/fields.js";
import { parseEnd, parseMoment } from "../messages/timestamp.js";
import type { ListTurns } from "./list-turns.js";
import { formatPageToken, type PagedList, pageOf, parsePageSize, parsePageToken } from "./paging.js";
import type { CellOf } from "./served-cell.js";

export interface AccountHandlersOptions {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
  readonly newAccountId: () => AccountId;
}

/**
 * The rpcs of kesc.v1.AccountService. An rpc of the contract without a handler does not compile.
 */
export function accountHandlers(options: AccountHandlersOptions): Record<keyof AccountServiceService, UnaryRoute> {
  const { cellOf } = options;
  return {
    createAccount: createAccount(options),
    getAccount: getAccount(cellOf),
    listAccounts: listAccounts(options),
    updateAccount: updateAccount(cellOf),
    freezeAccount: unary({
      request: FreezeAccountRequest,
      response: FreezeAccountResponse,
      ...changeAccountStatus("freezeAccount", cellOf),
    }),
    unfreezeAccount: unary({
      request: UnfreezeAccountRequest,
      response: UnfreezeAccountResponse,
      ...changeAccountStatus("unfreezeAccount", cellOf),
    }),
    closeAccount: unary({
      request: CloseAccountRequest,
      response: CloseAccountResponse,
      ...changeAccountStatus("closeAccount", cellOf),
    }),
  };
}

function createAccount({ cellOf, newAccountId }: AccountHandlersOptions): UnaryRoute {
  return unary({
    request: CreateAccountRequest,
    response: CreateAccountResponse,
    parse: (request) =>
      parseFields({
        user_id: parseUserId(request.user_id),
        phone_number: parsePhoneNumber(request.phone_number),
        email: parseEmailAddress(request.email),
      }),
    run: async (input, { key, idempotencyKey, deadline }) => {
      const outcome = await cellOf(key).ledger.submit(
        {
          name: "createAccount",
          organizationId: key.organizationId,
          actor: actorOf(key),
          newAccountId: newAccountId(),
          userId: input.user_id,
          phoneNumber: input.phone_number,
          email: input.email,
          idempotencyKey,
        },
        deadline,
      );
      return resultOf(outcome, (account) => ({ account: toAccountMessage(account) }));
    },
  });
}

function getAccount(cellOf: CellOf): UnaryRoute {
  return unary({
    request: GetAccountRequest,
    response: GetAccountResponse,
    parse: (request) => parseFields({ account_id: parseAccountId(request.account_id) }),
    run: async ({ account_id: accountId }, { key }) => {
      const account = await cellOf(key).reads.account(key.organizationId, accountId);
      return account === undefined
        ? { kind: "refused", refusal: { reason: "ACCOUNT_NOT_FOUND", accountId } }
        : done({ account: toAccountMessage(account) });
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
      });
      if (!fields.ok || fields.value.phone_number !== undefined || fields.value.email !== undefined) return fields;
      return fieldProblem("phone_number", "is required if email is absent", "REQUIRED");
    },
    run: async ({ account_id: accountId, phone_number: phoneNumber, email }, { key, deadline }) => {
      const { organizationId } = key;
      const outcome = await cellOf(key).ledger.submit(
        { name: "updateAccount", organizationId, actor: actorOf(key), accountId, phoneNumber, email },
        deadline,
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
        status: parseAccountStatuses(request.status),
        created_after: parseMoment(request.created_after),
        created_before: parseEnd(request.created_after, request.created_before),
        page_size: parsePageSize(request.page_size),
        page_token: parsePageToken(request.page_token),
      });
      if (!fields.ok) return fields;
      const { user_id, phone_number, created_after, created_before, page_size, page_token, ...others } = fields.value;
      const filters = given({
        ...others,
        userId: user_id,
        phoneNumber: phone_number,
        createdAfter: created_after,
        createdBefore: created_before,
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
        accounts: rows.map(toAccountMessage),
        next_page_token: formatPageToken(list, nextBeforeSeq),
      });
    },
  });
}

type ChangeAccountStatusRpc = UnaryRpc<
  { account_id: string; reason: string },
  { account_id: AccountId; reason: StatusReason },
  { account: AccountMessage | undefined }
>;

/** The parts that the rpcs for an account's status share. Only their message types differ. */
function changeAccountStatus(
  name: ChangeAccountStatus["name"],
  cellOf: CellOf,
): Pick<ChangeAccountStatusRpc, "parse" | "run"> {
  return {
    parse: (request) =>
      parseFields({ account_id: parseAccountId(request.account_id), reason: parseStatusReason(request.reason) }),
    run: async ({ account_id: accountId, reason }, { key, deadline }) => {
      const outcome = await cellOf(key).ledger.submit(
        { name, organizationId: key.organizationId, actor: actorOf(key), accountId, reason },
        deadline,
      );
      return resultOf(outcome, (account) => ({ account: toAccountMessage(account) }));
    },
  };
}
