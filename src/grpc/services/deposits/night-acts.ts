import { PARTS_MAX } from "../../../domain/book-after.js";
import { DEPOSIT_REASONS } from "../../../domain/deposit.js";
import type {
  PayIn,
  RecordDeposits,
  RecordedDeposits,
  RecordedPayIn,
} from "../../../domain/deposits/record-deposits.js";
import type {
  LostResult,
  ResolvedResult,
  ResolvedTransactions,
  ResolveTransactions,
} from "../../../domain/orders/resolve-transactions.js";
import { isReceiptOf, parseReceiptText, receiptOf } from "../../../domain/receipt.js";
import { BANK_RAIL, type Rail } from "../../../domain/transaction.js";
import { formatCents, parseAmount } from "../../../domain/values/cents.js";
import { readDepositReference } from "../../../domain/values/deposit-reference.js";
import { parseTransactionId } from "../../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import * as wire from "../../../gen/kesc/admin/v1/admin_service.js";
import { DepositReason } from "../../../gen/kesc/v1/deposit.js";
import { railNamed } from "../../../rails/rails.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import type { RpcRoute } from "../../calls/route.js";
import { enumOf } from "../../messages/enums.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { fieldProblem, joined, type ParsedFields, parseFields, parseItems } from "../../messages/fields.js";
import { fields, OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { totalsOf } from "../../messages/operators/night.js";
import { parseMoment } from "../../messages/timestamp.js";
import { act } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

const REASONS = enumOf(DepositReason, "DEPOSIT_REASON", DEPOSIT_REASONS);
const OUTCOMES = enumOf(wire.PayInOutcome, "PAY_IN_OUTCOME", ["CREDITED", "WAITING", "PASSED_OVER"]);

const common = fields("note");
const ofRail = fieldsOf({ ...OPERATORS_KINDS, rail: parseRailWithStatement })("rail", "note");

/**
 * The rpcs that do for a whole night what single acts do for one deposit or order. A preview
 * changes nothing, so it needs no fresh session. Each call takes a turn of the person as trials do.
 */
export function nightActs(options: HandlersOptions): Record<string, RpcRoute> {
  return {
    recordDeposits: organizationRpc("recordDeposits", {
      parse: (request) => {
        const { preview } = request;
        const given = ofRail.parse(withNote(request));
        return joined(given, parsePayIns(request), (own, payIns) => ({ ...own, payIns, preview }));
      },
      takesPowerAway: isPreview,
      partsOf: ({ payIns }) => payIns.length,
      run: ({ preview, ...given }, caller) =>
        act<RecordDeposits, wire.RecordDepositsResponse>(
          options,
          { fields: { name: "recordDeposits", ...given }, isPreview: preview },
          caller,
          (resource, _, { needsSecondPerson = false }) =>
            toRecorded(resource, { needsSecondPerson, isPreview: preview }),
        ),
    }),
    resolveTransactions: organizationRpc("resolveTransactions", {
      parse: (request) => {
        const { preview } = request;
        const given = common.parse(withNote(request));
        return joined(given, parseResults(request), (own, results) => ({ ...own, results, preview }));
      },
      takesPowerAway: isPreview,
      partsOf: ({ results }) => results.length,
      run: ({ preview, ...given }, caller) =>
        act<ResolveTransactions, wire.ResolveTransactionsResponse>(
          options,
          { fields: { name: "resolveTransactions", ...given }, isPreview: preview },
          caller,
          (resource, _, { needsSecondPerson = false }) => toResolved(resource, needsSecondPerson),
        ),
    }),
  };
}

function isPreview({ preview }: { readonly preview: boolean }): boolean {
  return preview;
}

/** A preview writes nothing, so it needs no words. */
function withNote<Request extends { readonly note: string; readonly preview: boolean }>(request: Request): Request {
  return request.preview && request.note === "" ? { ...request, note: "preview" } : request;
}

function parseRailWithStatement(unchecked: string): Parsed<Rail> {
  const kind = railNamed(unchecked);
  // The statements of banks are those of places.
  return kind === undefined || (kind.statement === undefined && kind.name !== BANK_RAIL)
    ? unparsed("must be a rail with statements, such as mpesa", "UNKNOWN_VALUE")
    : parsed(kind.name);
}

/** Parses a list whose items have texts of which each may come once. */
function parseParts<Item, Value>(
  list: string,
  items: readonly Item[],
  { parse, namesOf }: { parse: (item: Item) => ParsedFields<Value>; namesOf: (value: Value) => readonly string[] },
): ParsedFields<readonly Value[]> {
  if (items.length === 0) return fieldProblem(list, "is required", "REQUIRED");
  if (items.length > PARTS_MAX) return fieldProblem(list, `must have at most ${String(PARTS_MAX)} items`, "TOO_MANY");
  const values = parseItems(list, items, parse);
  if (!values.ok) return values;
  const seen = new Set<string>();
  for (const [index, value] of values.value.entries()) {
    for (const name of namesOf(value)) {
      if (seen.has(name)) return fieldProblem(`${list}[${String(index)}]`, `has ${name} a second time`, "CONFLICT");
      seen.add(name);
    }
  }
  return values;
}

function parsePayIns({ rail, pay_ins }: wire.RecordDepositsRequest): ParsedFields<readonly PayIn[]> {
  return parseParts("pay_ins", pay_ins, {
    parse: ({ receipt, amount, reference, paid_at }): ParsedFields<PayIn> => {
      const parts = parseFields({
        receipt: parseReceiptOfRail(rail, receipt),
        amount: parseAmount(amount),
        paid_at: parseMoment(paid_at),
      });
      if (!parts.ok) return parts;
      const { paid_at: paidAt, receipt: own, amount: amountCents } = parts.value;
      const at = paidAt === undefined ? {} : { paidAt };
      return { ok: true, value: { receipt: own, amountCents, reference: referenceIn(reference), ...at } };
    },
    namesOf: ({ receipt }) => [receipt],
  });
}

function parseReceiptOfRail(rail: string, unchecked: string): ReturnType<typeof parseReceiptText> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  if (rail === BANK_RAIL) return parseReceiptOfBank(unchecked);
  const receipt = receiptOf(rail, unchecked);
  return receipt === undefined ? unparsed(`must be a receipt of ${rail}`) : parsed(receipt);
}

function parseReceiptOfBank(unchecked: string): ReturnType<typeof parseReceiptText> {
  const receipt = parseReceiptText(unchecked);
  return !receipt.ok || isReceiptOf(BANK_RAIL, receipt.value)
    ? receipt
    : unparsed("must be a receipt of a bank: the source of its place, a colon and a number");
}

/** Payers put blanks around nothing, too. */
function referenceIn(typed: string): PayIn["reference"] {
  return typed.trim() === "" ? "NONE" : (readDepositReference(typed) ?? "UNREADABLE");
}

function parseResults({ results }: wire.ResolveTransactionsRequest): ParsedFields<readonly LostResult[]> {
  return parseParts("results", results, {
    parse: ({ transaction_id, receipt, amount }): ParsedFields<LostResult> => {
      const parts = parseFields({
        transaction_id: parseTransactionId(transaction_id),
        receipt: parseReceiptText(receipt),
        amount: parseAmount(amount),
      });
      if (!parts.ok) return parts;
      const { transaction_id: transactionId, receipt: own, amount: amountCents } = parts.value;
      return { ok: true, value: { transactionId, receipt: own, amountCents } };
    },
    namesOf: ({ transactionId, receipt }) => [transactionId, receipt],
  });
}

interface ShownAct {
  readonly needsSecondPerson: boolean;
  readonly isPreview: boolean;
}

function toRecorded(
  { recorded }: RecordedDeposits = { recorded: [] },
  { needsSecondPerson, isPreview }: ShownAct,
): wire.RecordDepositsResponse {
  const sumOf = (isCounted: (each: RecordedPayIn) => boolean): wire.PartTotals =>
    totalsOf(recorded.filter(isCounted).map(({ payIn }) => payIn));
  return {
    pay_ins: recorded.map((each) => toRecordedPayIn(each, isPreview)),
    recorded: sumOf(({ isNew }) => isNew),
    credited: sumOf(({ isNew, deposit }) => isNew && deposit.status === "CREDITED"),
    passed_over: sumOf(({ isNew }) => !isNew),
    needs_second_person: needsSecondPerson,
  };
}

function toRecordedPayIn({ payIn, deposit, isNew }: RecordedPayIn, isPreview: boolean): wire.RecordedPayIn {
  const reason = deposit?.reason;
  return {
    receipt: payIn.receipt,
    amount: formatCents(payIn.amountCents),
    outcome: OUTCOMES[isNew ? (deposit.status === "CREDITED" ? "CREDITED" : "WAITING") : "PASSED_OVER"],
    deposit_id: isNew && isPreview ? undefined : deposit?.id,
    account_id: deposit?.accountId,
    reason: reason && REASONS[reason],
  };
}

function toResolved(
  { resolved }: ResolvedTransactions = { resolved: [] },
  needsSecondPerson: boolean,
): wire.ResolveTransactionsResponse {
  return {
    results: resolved.map(toResolvedResult),
    completed: totalsOf(resolved.flatMap(({ left, result }) => (left === undefined ? [result] : []))),
    needs_second_person: needsSecondPerson,
  };
}

function toResolvedResult({ result, left }: ResolvedResult): wire.ResolvedResult {
  const { transactionId, receipt, amountCents } = result;
  return { transaction_id: transactionId, receipt, amount: formatCents(amountCents), left_because: left };
}
