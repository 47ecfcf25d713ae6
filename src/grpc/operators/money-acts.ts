import { typeidUnboxed } from "typeid-js";

import { type BookHead, ofEachAccount } from "../../domain/book.js";
import type { CorrectBook } from "../../domain/book/correct-book.js";
import type { ReverseByOperator } from "../../domain/money/reverse-transaction.js";
import type { CancelTransaction } from "../../domain/orders/cancel-transaction.js";
import type { ClearFlag } from "../../domain/orders/clear-flag.js";
import type { ResolveTransaction } from "../../domain/orders/resolve-transaction.js";
import { parseReceiptText } from "../../domain/receipt.js";
import { parseAmount } from "../../domain/values/cents.js";
import {
  type OrganizationId,
  parseAccountId,
  parseTransactionId,
  type TransactionId,
} from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { type IdempotencyKey, parseReference } from "../../domain/values/text.js";
import {
  AdjustMovementRequest,
  AdjustMovementResponse,
  BookPaymentRequest,
  BookPaymentResponse,
  CancelTransactionRequest,
  CancelTransactionResponse,
  ClearFlagRequest,
  ClearFlagResponse,
  CoverShortfallRequest,
  CoverShortfallResponse,
  ExplainTransferRequest,
  ExplainTransferResponse,
  FundChargesRequest,
  FundChargesResponse,
  RecoverShortfallRequest,
  RecoverShortfallResponse,
  ResolveTransactionRequest,
  ResolveTransactionResponse,
  ReverseTransactionRequest,
  ReverseTransactionResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { type BookSums as BookSumsMessage, MovementDirection } from "../../gen/kesc/admin/v1/resources.js";
import { ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import { formatSigned } from "../messages/history/supply.js";
import { parseFlagReason } from "../messages/payment.js";
import { parseResolution } from "../messages/resolution.js";
import { toTransactionMessage } from "../messages/transaction.js";
import { act, actAlone, actOnTransaction, type ActsOptions, type CommandFields } from "./acts.js";
import { parseId, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorRpc, OperatorUnary } from "./operator-call.js";
import type { ActResponse } from "./results.js";

/** The rpcs that settle transactions, and correct the books. */
export function moneyActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  return {
    resolveTransaction: resolveTransaction(unary, options),
    clearFlag: clearFlag(unary, options),
    cancelTransaction: cancelTransaction(unary, options),
    reverseTransaction: reverseTransaction(unary, options),
    ...corrections(unary, options),
  };
}

function resolveTransaction(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: ResolveTransactionRequest,
    response: ResolveTransactionResponse,
    parse: (request): ParsedFields<ResolutionFields> => {
      const fields = parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        transaction_id: parseTransactionId(request.transaction_id),
        note: parseNote(request.note),
      });
      const resolution = parseResolution(request.outcome);
      if (!fields.ok || !resolution.ok) {
        return { ok: false, fields: [fields, resolution].flatMap((each) => (each.ok ? [] : each.fields)) };
      }
      const { organization_id: organizationId, transaction_id: transactionId, note } = fields.value;
      const newTransactionId = typeidUnboxed("txn") as string as TransactionId;
      return {
        ok: true,
        value: { organizationId, transactionId, newTransactionId, resolution: resolution.value, note },
      };
    },
    run: ({ organizationId, ...fields }, caller) =>
      actOnTransaction<ResolveTransactionResponse>(
        options,
        { organizationId, fields: { name: "resolveTransaction", ...fields } },
        caller,
        (resolved, rest) => ({
          transaction: toTransactionMessage(resolved),
          correction: resolved.correction && toTransactionMessage(resolved.correction),
          ...rest,
        }),
      ),
  });
}

type ResolutionFields = Omit<CommandFields<ResolveTransaction>, "name"> & { readonly organizationId: OrganizationId };

function clearFlag(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: ClearFlagRequest,
    response: ClearFlagResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        transaction_id: parseTransactionId(request.transaction_id),
        flag: parseFlagReason(request.flag),
        note: parseNote(request.note),
      }),
    run: ({ organization_id: organizationId, transaction_id: transactionId, flag, note }, caller) =>
      act<ClearFlag, ClearFlagResponse>(
        options,
        { organizationId, fields: { name: "clearFlag", transactionId, flag, note } },
        caller,
        (transaction, { unchanged }) => ({ transaction: transaction && toTransactionMessage(transaction), unchanged }),
      ),
  });
}

function cancelTransaction(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: CancelTransactionRequest,
    response: CancelTransactionResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        transaction_id: parseTransactionId(request.transaction_id),
        note: parseNote(request.note),
      }),
    run: ({ organization_id: organizationId, transaction_id: transactionId, note: reason }, caller) =>
      actAlone<CancelTransaction, CancelTransactionResponse>(
        options,
        { organizationId, fields: { name: "cancelTransaction", transactionId, reason } },
        caller,
        (transaction, { unchanged }) => ({ transaction: toTransactionMessage(transaction), unchanged }),
      ),
  });
}

function reverseTransaction(unary: OperatorUnary, options: ActsOptions): OperatorRoute {
  return unary({
    request: ReverseTransactionRequest,
    response: ReverseTransactionResponse,
    parse: (request) =>
      parseFields({
        organization_id: parseId<OrganizationId>(request.organization_id),
        transaction_id: parseTransactionId(request.transaction_id),
        receipt: ifGiven(request.receipt, parseReceiptText),
        note: parseNote(request.note),
      }),
    run: ({ organization_id: organizationId, transaction_id: transactionId, receipt, note }, caller) =>
      act<ReverseByOperator, ReverseTransactionResponse>(
        options,
        { organizationId, fields: { name: "reverseTransaction", transactionId, receipt, note } },
        caller,
        (transaction, rest) => ({ transaction: transaction && toTransactionMessage(transaction), ...rest }),
      ),
  });
}

function corrections(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  const rpc = <Request extends CommonRequest>(given: CorrectionRpc<Request>): OperatorRoute =>
    correction(unary, options, given);
  return {
    coverShortfall: rpc({
      name: "coverShortfall",
      request: CoverShortfallRequest,
      response: CoverShortfallResponse,
      more: () => ({}),
    }),
    recoverShortfall: rpc({
      name: "recoverShortfall",
      request: RecoverShortfallRequest,
      response: RecoverShortfallResponse,
      more: ({ account_id: id }) => ({ account_id: parseAccountId(id) }),
    }),
    bookPayment: rpc({
      name: "bookPayment",
      request: BookPaymentRequest,
      response: BookPaymentResponse,
      more: ({ rail_receipt: receipt, account_id: id }) => ({
        rail_receipt: parseReceiptText(receipt),
        account_id: ifGiven(id, parseAccountId),
      }),
    }),
    adjustMovement: rpc({
      name: "adjustMovement",
      request: AdjustMovementRequest,
      response: AdjustMovementResponse,
      more: ({ movement, direction, account_id: id }) => ({
        movement: parseReference(movement),
        direction: parseDirection(direction),
        account_id: ifGiven(id, parseAccountId),
      }),
    }),
    explainTransfer: rpc({
      name: "explainTransfer",
      request: ExplainTransferRequest,
      response: ExplainTransferResponse,
      more: ({ rail_receipt: receipt, direction }) => ({
        rail_receipt: parseReceiptText(receipt),
        direction: parseDirection(direction),
      }),
    }),
    fundCharges: rpc({
      name: "fundCharges",
      request: FundChargesRequest,
      response: FundChargesResponse,
      more: ({ rail_receipt: receipt, direction }) => ({
        rail_receipt: parseReceiptText(receipt),
        direction: parseDirection(direction),
      }),
    }),
  };
}

interface CommonRequest {
  readonly organization_id: string;
  readonly amount: string;
  readonly note: string;
}

/** The responses of all corrections have the same fields. */
type SumsResponse = ActResponse & { readonly sums: BookSumsMessage | undefined };

interface CorrectionRpc<Request> extends Pick<OperatorRpc<Request, unknown, SumsResponse>, "request" | "response"> {
  readonly name: CorrectBook["name"];
  /** Parses what only this correction has. The keys are the names on the wire. */
  readonly more: (request: Request) => Record<string, Parsed<unknown>>;
}

/** The fields that the command names otherwise. */
const NAMES: Readonly<Record<string, string>> = { account_id: "accountId", rail_receipt: "receipt" };

function correction<Request extends CommonRequest>(
  unary: OperatorUnary,
  options: ActsOptions,
  { name, request, response, more }: CorrectionRpc<Request>,
): OperatorRoute {
  return unary({
    request,
    response,
    parse: (message: Request, { idempotencyKey }) => {
      return parseFields({
        organization_id: parseId<OrganizationId>(message.organization_id),
        amount: parseAmount(message.amount),
        note: parseNote(message.note),
        "idempotency-key": parseKey(idempotencyKey),
        ...more(message),
      });
    },
    run: (given, caller) => {
      const { organization_id: organizationId, amount: amountCents, "idempotency-key": key, ...others } = given;
      const own = Object.entries(others).map(([field, value]) => [NAMES[field] ?? field, value] as const);
      // `more` of the correction has parsed the fields of its command.
      const fields = {
        name,
        amountCents,
        idempotencyKey: key,
        ...Object.fromEntries(own),
      } as unknown as CommandFields<CorrectBook>;
      return act<CorrectBook, SumsResponse>(options, { organizationId, fields }, caller, (head, rest) => ({
        sums: head && toSums(head),
        ...rest,
      }));
    },
  });
}

/** A repeat of a correction without a key would be another one. */
function parseKey(key: IdempotencyKey | undefined): Parsed<IdempotencyKey> {
  return key === undefined ? unparsed("is required as metadata", "REQUIRED") : parsed(key);
}

function parseDirection(unchecked: MovementDirection): Parsed<"in" | "out"> {
  if (unchecked === MovementDirection.MOVEMENT_DIRECTION_UNSPECIFIED) return unparsed("is required", "REQUIRED");
  if (unchecked === MovementDirection.MOVEMENT_DIRECTION_IN) return parsed("in");
  return unchecked === MovementDirection.MOVEMENT_DIRECTION_OUT
    ? parsed("out")
    : unparsed("must be one of in, out", "UNKNOWN_VALUE");
}

export function toSums({ sums }: Pick<BookHead, "sums">): BookSumsMessage {
  return ofEachAccount((account) => formatSigned(sums[account]));
}
