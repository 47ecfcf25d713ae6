import type { MoveMoney } from "../../domain/money/move-money.js";
import type { Rail, Transaction } from "../../domain/transaction.js";
import { type IdempotencyKey, parseIdempotencyKey } from "../../domain/values/text.js";
import type { TransactionRequest, TransactionResult } from "../../gen/kesc/v1/transaction_service.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { type Caller, refusalOfThrown } from "../calls/call-context.js";
import type { TokenBucket } from "../calls/call-rates.js";
import type { ItemTally } from "../calls/rpc-result.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { statusMessageOf } from "../errors/status.js";
import { fieldProblem, ifGiven, joined, type ParsedFields, parseFields } from "../messages/fields.js";
import { toTransactionMessage } from "../messages/transaction.js";
import { type Movement, type MovementOptions, parseMovement, submitMovement } from "./move-money.js";
import type { CellOf } from "./served-cell.js";

const ITEMS_MAX = 1_000;
// Batches up to this size share the queue with single calls: the gateway combines REST requests
// into them (docs/adr/0014).
const SINGLES_MAX = 64;

/** One request of a batch, or all its problems. */
type Item = ParsedFields<{
  readonly name: MoveMoney["name"];
  readonly movement: Movement;
  readonly idempotencyKey: IdempotencyKey | undefined;
}>;
export type Batch = readonly Item[];

/**
 * Returns whether the items take turns with the organization's single calls. A small batch is
 * queued among them.
 */
export function isBulk(batch: Batch): boolean {
  return batch.length > SINGLES_MAX;
}

export interface BatchRunOptions extends MovementOptions {
  readonly bulk: boolean;
  /** Where each item counts as a call. Undefined: the items have no rate. */
  readonly bucket: TokenBucket | undefined;
}

export interface BatchResult {
  readonly response: { results: TransactionResult[] };
  readonly items: ItemTally;
}

/**
 * Checks the batch as a whole. An item with bad fields stays in the batch, and is refused alone.
 */
export function parseBatch(
  { requests }: { readonly requests: readonly TransactionRequest[] },
  { organization }: Pick<Caller, "organization">,
  cellOf: CellOf,
): ParsedFields<Batch> {
  if (requests.length === 0) return fieldProblem("requests", "is required", "REQUIRED");
  if (requests.length > ITEMS_MAX) {
    return fieldProblem("requests", `must have at most ${String(ITEMS_MAX)} items`, "TOO_MANY");
  }
  const defaultRail = cellOf(organization).railAccounts.defaultRail(organization.id);
  return { ok: true, value: requests.map((request) => parseItem(request, defaultRail)) };
}

/**
 * Submits all items in one turn of the event loop, so they share commits and no other command comes
 * between them. Each item has its own outcome. A bug in one item makes only that item INTERNAL.
 *
 * Each item counts as a call, and the first was counted with the call itself. The items beyond the
 * rate of the key are RATE_LIMITED, as single calls would be.
 */
export async function runBatch(batch: Batch, caller: Caller, options: BatchRunOptions): Promise<BatchResult> {
  const { bucket } = options;
  const counted = bucket === undefined ? batch.length : 1 + bucket.take(batch.length - 1);
  const submitting = batch.map((item, index) =>
    bucket !== undefined && index >= counted
      ? Promise.resolve({ kind: "refused" as const, refusal: bucket.refusal(index - counted + 1) })
      : submit(item, caller, options),
  );
  const tally: { items: number; refused: number; thrown: unknown } = {
    items: batch.length,
    refused: 0,
    thrown: undefined,
  };
  const results: TransactionResult[] = [];
  for (const submitted of await Promise.allSettled(submitting)) {
    if (submitted.status === "fulfilled") {
      results.push(resultOf(submitted.value));
      if (submitted.value.kind === "refused") tally.refused += 1;
    } else {
      results.push(refusedResult(refusalOfThrown(submitted.reason, caller.requestId)));
      tally.refused += 1;
      tally.thrown ??= submitted.reason;
    }
  }
  return { response: { results }, items: tally };
}

/**
 * Names bad fields as the single call does, `amount` for example: the result that shows them stands
 * at the item's index.
 */
function parseItem({ movement: request, idempotency_key }: TransactionRequest, defaultRail: Rail): Item {
  if (request === undefined) return fieldProblem("mint", "is required if redeem is absent", "REQUIRED");
  const { $case: name, value } = request;
  const movement = parseMovement(value, defaultRail);
  const own = parseFields({ idempotency_key: ifGiven(idempotency_key, parseIdempotencyKey) });
  return joined(movement, own, (fields, { idempotency_key: idempotencyKey }) => ({
    name,
    movement: fields,
    idempotencyKey,
  }));
}

type ItemOutcome = Outcome<Transaction> | { readonly kind: "refused"; readonly refusal: AnyRefusal };

function submit(item: Item, caller: Caller, options: BatchRunOptions): Promise<ItemOutcome> {
  if (!item.ok) return Promise.resolve({ kind: "refused", refusal: { reason: "INVALID_FIELD", fields: item.fields } });
  const { name, movement, idempotencyKey } = item.value;
  const { who, organization, deadline, trace } = caller;
  return submitMovement(name, movement, {
    caller: { who, organization, deadline, idempotencyKey, trace },
    options,
    bulk: options.bulk,
  });
}

function resultOf(outcome: ItemOutcome): TransactionResult {
  if (outcome.kind === "refused") return refusedResult(outcome.refusal);
  const { resource, replayed } = outcome;
  return { outcome: { $case: "transaction", value: toTransactionMessage(resource) }, replayed };
}

function refusedResult(refusal: AnyRefusal): TransactionResult {
  return { outcome: { $case: "error", value: statusMessageOf(refusal) }, replayed: false };
}
