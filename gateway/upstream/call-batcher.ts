import { atEndOfTask, MicroBatch } from "../../runtime/micro-batch.js";
import type { CallOptions, Outcome } from "../contract/outcome.js";
import type { Batching, Rpc } from "../contract/rpc.js";

/** Makes one call with an encoded request; as Upstream's `call`. */
export type EncodedCall = (rpc: Rpc, request: Uint8Array, options: CallOptions) => Promise<Outcome>;

// As many as usually share a commit: with more, the first of them would only wait longer.
const CALLS_MAX = 64;

interface Waiting {
  /** Calls with the same key can be sent together. */
  readonly key: string;
  readonly rpc: Rpc;
  readonly batching: Batching;
  readonly request: Uint8Array;
  /** The request as a part of a request of many. */
  readonly part: Uint8Array;
  readonly options: CallOptions;
  readonly resolve: (outcome: Promise<Outcome>) => void;
}

/**
 * Makes calls, and those that one turn of the event loop brings as one, where the contract says how
 * and they differ in their requests alone: a call costs both sides several times as much as the
 * mint that it carries (docs/adr/0014). Each has an outcome of its own. A call without company goes
 * as it is, at the end of the turn.
 */
export class CallBatcher {
  readonly #makeCall: EncodedCall;
  // `atEndOfTask` fires after the microtasks, in which all requests of the turn make their calls.
  readonly #waiting: MicroBatch<Waiting>;

  /** Makes one request of many no larger than `bytesMax`. */
  constructor(makeCall: EncodedCall, bytesMax: number) {
    this.#makeCall = makeCall;
    this.#waiting = new MicroBatch({
      schedule: atEndOfTask,
      process: (waiting) => {
        for (const calls of byKey(waiting)) for (const batch of batchesOf(calls, bytesMax)) this.#send(batch);
      },
    });
  }

  call(rpc: Rpc, request: Uint8Array, options: CallOptions): Promise<Outcome> {
    const { batching } = rpc;
    const { batchKey, metadata } = options;
    if (batching === undefined || batchKey === undefined) return this.#makeCall(rpc, request, options);
    return new Promise((resolve) => {
      const key = `${batching.by.path} ${batchKey}`;
      this.#waiting.add({ key, rpc, batching, request, part: batching.partOf(request, metadata), options, resolve });
    });
  }

  #send(calls: Batch): void {
    const [first, second] = calls;
    if (second === undefined) {
      first.resolve(this.#makeCall(first.rpc, first.request, first.options));
      return;
    }
    const metadata = first.batching.sharedOf(first.options.metadata);
    const answering = this.#makeCall(first.batching.by, Buffer.concat(calls.map(({ part }) => part)), {
      metadata,
      deadline: Math.min(...calls.map(({ options }) => options.deadline)),
      // Whoever goes away takes no other's call along.
      whenCanceled: () => undefined,
    });
    const batchId = String(metadata.get("x-request-id")[0]);
    for (const [index, { batching, resolve }] of calls.entries()) {
      const outcomeOf = (outcome: Outcome): Outcome =>
        outcome.ok ? batching.outcomeAt(index, outcome.message) : outcome;
      resolve(answering.then((outcome) => ({ ...outcomeOf(outcome), batchId })));
    }
  }
}

type Batch = readonly [Waiting, ...Waiting[]];

function byKey(waiting: readonly Waiting[]): Iterable<Waiting[]> {
  const groups = new Map<string, Waiting[]>();
  for (const call of waiting) {
    const group = groups.get(call.key);
    if (group === undefined) groups.set(call.key, [call]);
    else group.push(call);
  }
  return groups.values();
}

/** The calls in their order, in as few batches as the limits allow. */
function batchesOf([first, ...others]: readonly Waiting[], bytesMax: number): Batch[] {
  if (first === undefined) return [];
  let batch: [Waiting, ...Waiting[]] = [first];
  let bytes = first.part.length;
  const batches = [batch];
  for (const waiting of others) {
    bytes += waiting.part.length;
    if (batch.length < CALLS_MAX && bytes <= bytesMax) batch.push(waiting);
    else {
      batch = [waiting];
      bytes = waiting.part.length;
      batches.push(batch);
    }
  }
  return batches;
}
