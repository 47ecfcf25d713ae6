import type { CallOptions, Outcome } from "../contract/outcome.js";
import type { Batching, Rpc } from "../contract/rpc.js";

/** Makes one call with an encoded request; as Upstream's `call`. */
export type EncodedCall = (rpc: Rpc, request: Uint8Array, options: CallOptions) => Promise<Outcome>;

// As many as usually share a commit: with more, the first of them would only wait longer.
const CALLS_MAX = 64;

interface Waiting {
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
  readonly #bytesMax: number;
  /** The calls of this turn that can be sent together, by what they must have in common. */
  #gathered = new Map<string, Waiting[]>();

  /** Makes one request of many no larger than `bytesMax`. */
  constructor(makeCall: EncodedCall, bytesMax: number) {
    this.#makeCall = makeCall;
    this.#bytesMax = bytesMax;
  }

  call(rpc: Rpc, request: Uint8Array, options: CallOptions): Promise<Outcome> {
    const { batching } = rpc;
    const { batchKey, metadata } = options;
    if (batching === undefined || batchKey === undefined) return this.#makeCall(rpc, request, options);
    return new Promise((resolve) => {
      const part = batching.partOf(request, metadata);
      this.#gather(`${batching.by.path} ${batchKey}`, { rpc, batching, request, part, options, resolve });
    });
  }

  #gather(key: string, waiting: Waiting): void {
    // Comes after the microtasks, in which all whom this turn lets go on make their calls.
    if (this.#gathered.size === 0) process.nextTick(this.#sendGathered);
    const others = this.#gathered.get(key);
    if (others === undefined) this.#gathered.set(key, [waiting]);
    else others.push(waiting);
  }

  readonly #sendGathered = (): void => {
    const gathered = this.#gathered;
    this.#gathered = new Map();
    for (const calls of gathered.values()) for (const batch of batchesOf(calls, this.#bytesMax)) this.#send(batch);
  };

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
