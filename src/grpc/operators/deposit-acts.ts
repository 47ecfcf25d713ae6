import type { AssignDeposit } from "../../domain/deposits/assign-deposit.js";
import type { RecordDeposit } from "../../domain/deposits/record-deposit.js";
import { parseThroughRail, type ReturnDeposit } from "../../domain/deposits/return-deposit.js";
import type { ReverseDeposit } from "../../domain/deposits/reverse-deposit.js";
import type { UnassignDeposit } from "../../domain/deposits/unassign-deposit.js";
import type { DepositCommand } from "../../domain/operations.js";
import type { RailReceipt } from "../../domain/payment.js";
import { parseReceiptText } from "../../domain/receipt.js";
import { parseAmount } from "../../domain/values/cents.js";
import { type DepositId, type OrganizationId, parseAccountId, type TransactionId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import type { StatusReason } from "../../domain/values/text.js";
import {
  AssignDepositRequest,
  AssignDepositResponse,
  RecordDepositRequest,
  RecordDepositResponse,
  ReturnDepositRequest,
  ReturnDepositResponse,
  ReverseDepositRequest,
  ReverseDepositResponse,
  UnassignDepositRequest,
  UnassignDepositResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import type { Deposit as DepositMessage } from "../../gen/kesc/v1/deposit.js";
import { railNamed } from "../../rails/rails.js";
import type { RpcResult } from "../calls/rpc-result.js";
import { toDepositMessage } from "../messages/deposit.js";
import { ifGiven, parseFields } from "../messages/fields.js";
import { act, type ActsOptions, type CommandFields, newIds, type OperatorCaller } from "./acts.js";
import { parseId, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { readOrganization } from "./reading.js";
import type { ActResponse } from "./results.js";

/** The rpcs that decide about deposits. */
export function depositActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    recordDeposit: unary({
      request: RecordDepositRequest,
      response: RecordDepositResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          receipt: parseReceiptText(request.receipt),
          amount: parseAmount(request.amount),
          account_id: ifGiven(request.account_id, parseAccountId),
          note: parseNote(request.note),
        }),
      run: ({ organization_id: organizationId, receipt, amount: amountCents, account_id: accountId, note }, caller) =>
        actOn<RecordDeposit>(options, caller, organizationId, {
          name: "recordDeposit",
          receipt,
          amountCents,
          accountId,
          note,
        }),
    }),
    assignDeposit: unary({
      request: AssignDepositRequest,
      response: AssignDepositResponse,
      parse: (request) => parseFields({ ...commonFields(request), account_id: parseAccountId(request.account_id) }),
      run: ({ organization_id: organizationId, deposit_id: depositId, account_id: accountId, note }, caller) =>
        actOn<AssignDeposit>(options, caller, organizationId, { name: "assignDeposit", depositId, accountId, note }),
    }),
    unassignDeposit: unary({
      request: UnassignDepositRequest,
      response: UnassignDepositResponse,
      parse: (request) => parseFields(commonFields(request)),
      run: ({ organization_id: organizationId, deposit_id: depositId, note }, caller) =>
        withMint(options, { organizationId, depositId }, (transactionId) =>
          actOn<UnassignDeposit>(options, caller, organizationId, {
            name: "unassignDeposit",
            depositId,
            // Nobody has the new id. The ledger then says why there is no credit to take back.
            transactionId: transactionId ?? newIds().newTransactionId,
            note,
          }),
        ),
    }),
    returnDeposit: unary({
      request: ReturnDepositRequest,
      response: ReturnDepositResponse,
      parse: (request) => parseFields({ ...commonFields(request), receipt: parseReturnReceipt(request) }),
      run: ({ organization_id: organizationId, deposit_id: depositId, receipt, note }, caller) =>
        returnDeposit(options, caller, organizationId, { name: "returnDeposit", depositId, receipt, note }),
    }),
    reverseDeposit: unary({
      request: ReverseDepositRequest,
      response: ReverseDepositResponse,
      parse: (request) => parseFields({ ...commonFields(request), receipt: parseReceiptText(request.receipt) }),
      run: ({ organization_id: organizationId, deposit_id: depositId, receipt, note }, caller) =>
        withMint(options, { organizationId, depositId }, (transactionId) =>
          actOn<ReverseDeposit>(options, caller, organizationId, {
            name: "reverseDeposit",
            depositId,
            transactionId,
            receipt,
            note,
          }),
        ),
    }),
  };
}

interface DecidedDeposit {
  readonly organization_id: string;
  readonly deposit_id: string;
  readonly note: string;
}

function commonFields(request: DecidedDeposit): {
  readonly organization_id: Parsed<OrganizationId>;
  readonly deposit_id: Parsed<DepositId>;
  readonly note: Parsed<StatusReason>;
} {
  return {
    organization_id: parseId<OrganizationId>(request.organization_id),
    deposit_id: parseId<DepositId>(request.deposit_id),
    note: parseNote(request.note),
  };
}

/** The responses of all rpcs have the same fields. */
type DepositResponse = ActResponse & { readonly deposit: DepositMessage | undefined };

function actOn<C extends DepositCommand>(
  options: ActsOptions,
  caller: OperatorCaller,
  organizationId: OrganizationId,
  fields: CommandFields<C>,
): Promise<RpcResult<DepositResponse>> {
  return act<DepositCommand, DepositResponse>(options, { organizationId, fields }, caller, (deposit, rest) => ({
    deposit: deposit && toDepositMessage(deposit),
    ...rest,
  }));
}

/**
 * Runs `work` with the mint that credits the deposit, which names the account that the ledger must
 * lock. If another one credits it by then, the ledger refuses the command.
 */
function withMint(
  options: ActsOptions,
  { organizationId, depositId }: { readonly organizationId: OrganizationId; readonly depositId: DepositId },
  work: (transactionId: TransactionId | undefined) => Promise<RpcResult<DepositResponse>>,
): Promise<RpcResult<DepositResponse>> {
  return readOrganization(options, organizationId, async (found) => {
    const deposit = await options.cellOf(found).reads.deposit(organizationId, depositId);
    return work(deposit?.transactionId);
  });
}

/** Either the receipt of a return is given, or the rail is asked for it: then it is undefined. */
function parseReturnReceipt({
  receipt,
  through_rail: isThroughRail,
}: ReturnDepositRequest): Parsed<RailReceipt | undefined> {
  if (!isThroughRail) return parseReceiptText(receipt);
  return receipt === "" ? parsed(undefined) : unparsed("must be empty with through_rail");
}

/** Lets only a rail return the deposit that can. */
async function returnDeposit(
  options: ActsOptions,
  caller: OperatorCaller,
  organizationId: OrganizationId,
  fields: CommandFields<ReturnDeposit>,
): Promise<RpcResult<DepositResponse>> {
  const submit = (): Promise<RpcResult<DepositResponse>> =>
    actOn<ReturnDeposit>(options, caller, organizationId, fields);
  if (fields.receipt !== undefined) return submit();
  return readOrganization(options, organizationId, async (found) => {
    const deposit = await options.cellOf(found).reads.deposit(organizationId, fields.depositId);
    if (deposit === undefined) return submit();
    const returnsPayments = railNamed(deposit.rail)?.returnsPayments === true;
    const checked = parseFields({ through_rail: parseThroughRail(deposit.rail, returnsPayments) });
    return checked.ok ? submit() : { kind: "refused", refusal: { reason: "INVALID_FIELD", fields: checked.fields } };
  });
}
