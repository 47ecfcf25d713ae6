import { type BookHead, ofEachAccount } from "../../domain/book.js";
import type { CorrectBook } from "../../domain/book/correct-book.js";
import { parseReceiptText } from "../../domain/receipt.js";
import { parseAmount } from "../../domain/values/cents.js";
import { type OrganizationId, parseAccountId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { type IdempotencyKey, parseReference } from "../../domain/values/text.js";
import {
  AdjustMovementRequest,
  AdjustMovementResponse,
  BookPaymentRequest,
  BookPaymentResponse,
  CoverShortfallRequest,
  CoverShortfallResponse,
  ExplainTransferRequest,
  ExplainTransferResponse,
  FundChargesRequest,
  FundChargesResponse,
  RecoverShortfallRequest,
  RecoverShortfallResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { type BookSums as BookSumsMessage, MovementDirection } from "../../gen/kesc/admin/v1/resources.js";
import { ifGiven, parseFields } from "../messages/fields.js";
import { formatSigned } from "../messages/history/supply.js";
import { act, type ActsOptions, type CommandFields } from "./acts.js";
import { parseId, parseNote } from "./fields.js";
import type { OperatorRoute, OperatorRpc, OperatorUnary } from "./operator-call.js";
import type { ActResponse } from "./results.js";

/** The rpcs that correct the books. */
export function moneyActs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
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
