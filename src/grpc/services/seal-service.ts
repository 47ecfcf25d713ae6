import { parseTransactionId, type TransactionId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import type { Checkpoint as CheckpointMessage } from "../../gen/kesc/v1/seal.js";
import {
  GetCheckpointRequest,
  GetCheckpointResponse,
  GetConsistencyProofRequest,
  GetConsistencyProofResponse,
  GetInclusionProofRequest,
  GetInclusionProofResponse,
  type SealServiceService,
} from "../../gen/kesc/v1/seal_service.js";
import { verifierKeyOf } from "../../seals/note.js";
import type { Book, Seal, SealReads } from "../../seals/ports.js";
import { consistencyProof, inclusionProof } from "../../seals/proofs.js";
import type { Caller } from "../calls/call-context.js";
import { done, type RpcResult } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { fieldProblem, ifGiven, type ParsedFields, parseFields } from "../messages/fields.js";
import { toTimestamp } from "../messages/timestamp.js";
import type { ListTurns } from "./list-turns.js";
import type { CellOf } from "./served-cell.js";

export interface SealHandlersOptions {
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

/** The rpcs of kesc.v1.SealService. */
export function sealHandlers(options: SealHandlersOptions): Record<keyof SealServiceService, UnaryRoute> {
  return {
    getCheckpoint: getCheckpoint(options),
    getInclusionProof: getInclusionProof(options),
    getConsistencyProof: getConsistencyProof(options),
  };
}

function getCheckpoint(options: SealHandlersOptions): UnaryRoute {
  return unary({
    request: GetCheckpointRequest,
    response: GetCheckpointResponse,
    parse: (request) => parseFields({ size: parseSize(request.size, 0) }),
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

function getInclusionProof(options: SealHandlersOptions): UnaryRoute {
  return unary({
    request: GetInclusionProofRequest,
    response: GetInclusionProofResponse,
    parse: (request): ParsedFields<RowName> => {
      const fields = parseFields({
        transaction_id: ifGiven(request.transaction_id, parseTransactionId),
        sequence: parseSize(request.sequence, 0),
      });
      if (!fields.ok) return fields;
      const { transaction_id: transactionId, sequence } = fields.value;
      if (transactionId !== undefined && sequence > 0) {
        return fieldProblem("sequence", "must be absent if transaction_id is given", "FORMAT");
      }
      if (transactionId !== undefined) return { ok: true, value: { transactionId } };
      return sequence > 0
        ? { ok: true, value: { sequence } }
        : fieldProblem("transaction_id", "is required if sequence is absent", "REQUIRED");
    },
    run: (row, caller) =>
      inTurn(options, caller, async (reads) => {
        const sealed = await sealOf(reads, caller, 0);
        if ("reason" in sealed) return { refusal: sealed, rowsRead: 0 };
        const { book, seal } = sealed;
        const sequence = row.sequence ?? (await reads.rowOf(book, row.transactionId));
        if (sequence === undefined && row.transactionId !== undefined) {
          return { refusal: { reason: "TRANSACTION_NOT_FOUND", transactionId: row.transactionId }, rowsRead: 0 };
        }
        const leaf = sequence !== undefined && sequence <= seal.size ? await reads.leaf(book, sequence) : undefined;
        if (leaf === undefined || sequence === undefined) {
          return { refusal: { reason: "NOT_SEALED", sealedSize: seal.size }, rowsRead: 0 };
        }
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

function getConsistencyProof(options: SealHandlersOptions): UnaryRoute {
  return unary({
    request: GetConsistencyProofRequest,
    response: GetConsistencyProofResponse,
    parse: (request) => {
      const fields = parseFields({
        from_size: parseSize(request.from_size, 1),
        to_size: parseSize(request.to_size, 0),
      });
      if (!fields.ok) return fields;
      const { from_size: from, to_size: to } = fields.value;
      return to === 0 || from <= to
        ? fields
        : fieldProblem("to_size", "must not be smaller than from_size", "OUT_OF_RANGE");
    },
    run: ({ from_size: from, to_size: to }, caller) =>
      inTurn(options, caller, async (reads) => {
        const sealed = await sealOf(reads, caller, to);
        if ("reason" in sealed) return { refusal: sealed, rowsRead: 0 };
        const { book, seal } = sealed;
        if (from > seal.size) return { refusal: { reason: "NOT_SEALED", sealedSize: seal.size }, rowsRead: 0 };
        const { hashes, rowsRead } = await consistencyProof(reads, book, { from, size: seal.size });
        return { response: { hashes: hashes.map(base64Of), checkpoint: messageOf(sealed, options) }, rowsRead };
      }),
  });
}

/** The answer of a call, and the rows of the journal that it took. */
type Answer<Response> = { readonly rowsRead: number } & (
  { readonly response: Response } | { readonly refusal: AnyRefusal }
);

/** Runs the work when the turn of the caller comes. A proof reads many rows. */
async function inTurn<Response>(
  { cellOf, listTurns }: SealHandlersOptions,
  caller: Caller,
  work: (reads: SealReads) => Promise<Answer<Response>>,
): Promise<RpcResult<Response>> {
  const { seals } = cellOf(caller.key);
  const page = await listTurns.page(caller, async () => {
    const answer = await work(seals);
    return { rows: [answer], nextBeforeSeq: undefined, lookedAt: answer.rowsRead * LOOKED_AT_PER_ROW };
  });
  if ("reason" in page) return { kind: "refused", refusal: page };
  const [answer] = page.rows;
  if (answer === undefined) throw new Error("a proof has no answer");
  return "refusal" in answer ? { kind: "refused", refusal: answer.refusal } : done(answer.response);
}

interface SealedBook {
  readonly book: Book;
  readonly seal: Seal;
}

/** Returns the seal of a size, or the newest one for 0. */
async function sealOf(
  reads: SealReads,
  { key }: Caller,
  size: number,
): Promise<SealedBook | Extract<AnyRefusal, { reason: "CHECKPOINT_NOT_FOUND" }>> {
  const book = await reads.book(key.organizationId);
  const seal = book === undefined ? undefined : await reads.seal(book, size === 0 ? undefined : size);
  return book === undefined || seal === undefined ? { reason: "CHECKPOINT_NOT_FOUND", size } : { book, seal };
}

function messageOf(
  { book, seal: { size, root, note, sealedAt } }: SealedBook,
  { sealPublicKeys }: Pick<SealHandlersOptions, "sealPublicKeys">,
): CheckpointMessage {
  const [origin = book.organizationId] = note.split("\n", 1);
  return {
    size: BigInt(size),
    root_hash: base64Of(root),
    note,
    verifier_keys: sealPublicKeys({ organizationId: book.organizationId, size }).map((key) =>
      verifierKeyOf(origin, key),
    ),
    sealed_at: toTimestamp(sealedAt),
  };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function parseSize(unchecked: bigint, min: number): Parsed<number> {
  return unchecked >= min && unchecked <= Number.MAX_SAFE_INTEGER
    ? parsed(Number(unchecked))
    : unparsed(`must be from ${String(min)} to ${String(Number.MAX_SAFE_INTEGER)}`, "OUT_OF_RANGE");
}
