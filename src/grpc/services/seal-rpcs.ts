import { parseTransactionId, type TransactionId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import * as wire from "../../gen/kesc/v1/book_service.js";
import type { Checkpoint as CheckpointMessage } from "../../gen/kesc/v1/seal.js";
import { verifierKeyOf } from "../../seals/note.js";
import type { FoundSeal, NumberedBook, Seal, SealReads } from "../../seals/ports.js";
import { consistencyProof, inclusionProof } from "../../seals/proofs.js";
import type { Caller } from "../calls/call-context.js";
import type { ListTurns } from "../calls/list-turns.js";
import { done, type RpcResult } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { fieldProblem, ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import { toTimestamp } from "../messages/timestamp.js";
import type { CellOf } from "./served-cell.js";

export interface SealRpcsOptions {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
  /** The public keys that may have signed the log, newest first. Empty without a seal key file. */
  readonly sealPublicKeys: SealPublicKeysOf;
}

/** Returns the public keys that may have signed the first `size` rows of an organization's book. */
export type SealPublicKeysOf = (log: {
  readonly organizationId: string;
  readonly size: number;
}) => readonly Uint8Array[];

/** What a proof took, for the turns of lists. To hash a row takes as long as to look at some 4. */
const LOOKED_AT_PER_ROW = 4;

export function getCheckpoint(options: SealRpcsOptions): UnaryRoute {
  return unary({
    request: wire.GetCheckpointRequest,
    response: wire.GetCheckpointResponse,
    parse: (request) => parseFields({ size: parseOptionalSize(request.size) }),
    run: ({ size }, caller) =>
      inTurn(options, caller, async (reads) => {
        const found = await sealOf(reads, caller, size);
        if ("reason" in found) return { refusal: found, rowsRead: 0 };
        return { response: { checkpoint: messageOf(found, options) }, rowsRead: 0 };
      }),
  });
}

/** Names a row of the book. */
type RowName =
  | { readonly sequence: number; readonly transactionId?: undefined }
  | { readonly sequence?: undefined; readonly transactionId: TransactionId };

export function getInclusionProof(options: SealRpcsOptions): UnaryRoute {
  return unary({
    request: wire.GetInclusionProofRequest,
    response: wire.GetInclusionProofResponse,
    parse: (request): ParsedFields<RowName> => {
      const fields = parseFields({
        transaction_id: ifGiven(request.transaction_id, parseTransactionId),
        sequence: parseOptionalSize(request.sequence),
      });
      if (!fields.ok) return fields;
      const { transaction_id: transactionId, sequence } = fields.value;
      if (transactionId === undefined) {
        return sequence === undefined
          ? fieldProblem("transaction_id", "is required if sequence is absent", "REQUIRED")
          : { ok: true, value: { sequence } };
      }
      return sequence === undefined
        ? { ok: true, value: { transactionId } }
        : fieldProblem("sequence", "must be absent if transaction_id is given", "CONFLICT");
    },
    run: (row, caller) =>
      inTurn(options, caller, async (reads) => {
        const sealed = await sealOf(reads, caller, undefined);
        if ("reason" in sealed) return { refusal: sealed, rowsRead: 0 };
        const { book, seal } = sealed;
        const sequence = await sequenceOf(reads, book, row);
        if (typeof sequence !== "number") return { refusal: sequence, rowsRead: 0 };
        if (sequence > seal.size) return notSealed(options, caller, { field: "sequence", sequence, seal });
        const leaf = await reads.leaf(book, sequence);
        if (leaf === undefined) throw new Error("a sealed row is missing");
        const { hashes, rowsRead } = await inclusionProof(reads, book, { seq: sequence, size: seal.size });
        const response = {
          leaf: {
            sequence: BigInt(sequence),
            text: leaf.text,
            texts: leaf.texts,
            texts_salt: leaf.textsSalt,
            content_salt: leaf.contentSalt,
          },
          leaf_index: BigInt(sequence - 1),
          hashes: hashes.map(base64Of),
          checkpoint: messageOf(sealed, options),
        };
        return { response, rowsRead };
      }),
  });
}

export function getConsistencyProof(options: SealRpcsOptions): UnaryRoute {
  return unary({
    request: wire.GetConsistencyProofRequest,
    response: wire.GetConsistencyProofResponse,
    parse: (request) => {
      const fields = parseFields({
        old_size: parseOldSize(request.old_size),
        size: parseOptionalSize(request.size),
      });
      if (!fields.ok) return fields;
      const { old_size: oldSize, size } = fields.value;
      return size === undefined || oldSize <= size
        ? fields
        : fieldProblem("size", "must not be smaller than old_size", "OUT_OF_RANGE");
    },
    run: ({ old_size: oldSize, size }, caller) =>
      inTurn(options, caller, async (reads) => {
        const sealed = await sealOf(reads, caller, size);
        if ("reason" in sealed) return { refusal: sealed, rowsRead: 0 };
        const { book, seal } = sealed;
        if (oldSize > seal.size) return notSealed(options, caller, { field: "old_size", sequence: oldSize, seal });
        const { hashes, rowsRead } = await consistencyProof(reads, book, { from: oldSize, size: seal.size });
        return { response: { hashes: hashes.map(base64Of), checkpoint: messageOf(sealed, options) }, rowsRead };
      }),
  });
}

/** The answer of a call, and the rows of the journal that it took. */
type SealAnswer<Response> = { readonly rowsRead: number } & (
  { readonly response: Response } | { readonly refusal: AnyRefusal }
);

/** Runs the work when the turn of the caller comes. A proof reads many rows. */
async function inTurn<Response>(
  { cellOf, listTurns }: SealRpcsOptions,
  caller: Caller,
  work: (reads: SealReads) => Promise<SealAnswer<Response>>,
): Promise<RpcResult<Response>> {
  const { seals } = cellOf(caller.organization);
  const page = await listTurns.page(caller, async () => {
    const answer = await work(seals);
    return { rows: [answer], nextBeforeSeq: undefined, lookedAt: answer.rowsRead * LOOKED_AT_PER_ROW };
  });
  if ("reason" in page) return { kind: "refused", refusal: page };
  const [answer] = page.rows;
  if (answer === undefined) throw new Error("a proof has no answer");
  return "refusal" in answer ? { kind: "refused", refusal: answer.refusal } : done(answer.response);
}

interface ServedSeals {
  readonly book: NumberedBook;
  readonly seal: FoundSeal;
}

/** Returns the seal of a size, or the newest one. */
async function sealOf(
  reads: SealReads,
  { organization }: Caller,
  size: number | undefined,
): Promise<ServedSeals | Extract<AnyRefusal, { reason: "CHECKPOINT_NOT_FOUND" }>> {
  const book = await reads.book(organization.id);
  const seal = book === undefined ? undefined : await reads.seal(book, size);
  return book === undefined || seal === undefined ? { reason: "CHECKPOINT_NOT_FOUND", size } : { book, seal };
}

async function sequenceOf(
  reads: SealReads,
  book: NumberedBook,
  { sequence, transactionId }: RowName,
): Promise<number | Extract<AnyRefusal, { reason: "TRANSACTION_NOT_FOUND" }>> {
  if (sequence !== undefined) return sequence;
  return (await reads.rowOf(book, transactionId)) ?? { reason: "TRANSACTION_NOT_FOUND", transactionId };
}

/**
 * Refuses a row after the checkpoint. A row of the book is sealed within minutes. A row after the
 * last one may never exist, so the call is wrong.
 */
async function notSealed(
  { cellOf }: SealRpcsOptions,
  { organization }: Caller,
  { field, sequence, seal }: { readonly field: string; readonly sequence: number; readonly seal: Seal },
): Promise<{ readonly refusal: AnyRefusal; readonly rowsRead: number }> {
  const { result: last } = await cellOf(organization).history.position(organization.id, { seq: sequence });
  if (last.seq === sequence) return { refusal: { reason: "NOT_SEALED", sealedSize: seal.size }, rowsRead: 1 };
  const message = `must be at most ${String(last.seq)}, the sequence of the last row of the book`;
  const fields = [{ field, message, code: "OUT_OF_RANGE" as const }];
  return { refusal: { reason: "INVALID_FIELD", fields }, rowsRead: 1 };
}

function messageOf(
  { book, seal: { size, root, note, sealedAt, alarmRaisedAt } }: ServedSeals,
  { sealPublicKeys }: Pick<SealRpcsOptions, "sealPublicKeys">,
): CheckpointMessage {
  const [origin = book.organizationId] = note.split("\n", 1);
  return {
    size: BigInt(size),
    root_hash: base64Of(root),
    signed_note: note,
    verifier_keys: sealPublicKeys({ organizationId: book.organizationId, size }).map((key) =>
      verifierKeyOf(origin, key),
    ),
    sealed_at: toTimestamp(sealedAt),
    alarm_raised_at: alarmRaisedAt === undefined ? undefined : toTimestamp(alarmRaisedAt),
  };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function parseOptionalSize(unchecked: bigint | undefined): Parsed<number | undefined> {
  return unchecked === undefined ? parsed(undefined) : parseSize(unchecked);
}

/** The field is required, so 0 is an absent one. */
function parseOldSize(unchecked: bigint): Parsed<number> {
  return unchecked === 0n ? unparsed("is required: 1 or more", "REQUIRED") : parseSize(unchecked);
}

function parseSize(unchecked: bigint): Parsed<number> {
  return unchecked >= 1n && unchecked <= Number.MAX_SAFE_INTEGER
    ? parsed(Number(unchecked))
    : unparsed("must be 1 or more", "OUT_OF_RANGE");
}
