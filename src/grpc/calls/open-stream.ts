import type { ServerDuplexStream, ServerWritableStream } from "@grpc/grpc-js";

import { traceOf } from "../../../runtime/error-trace.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { withHead } from "../errors/status.js";
import type { RpcContract } from "../messages/contract.js";
import {
  type CallRecord,
  headOf,
  headWith,
  recordOf,
  refusalOfThrown,
  type ServingDependencies,
} from "./call-context.js";
import { type Ending, logCall, type Refused, refused } from "./call-log.js";
import type { CallHead } from "./rpc-result.js";

/** Counts the open streams of each organization, or of each operator, at one rpc. */
export class StreamCounts {
  readonly #counts = new Map<string, number>();

  /** Counts one more, and returns how to leave. Refuses if the holder has as many already. */
  enter(holder: string, streamsMax: number): (() => void) | Refused {
    const count = this.#counts.get(holder) ?? 0;
    if (count >= streamsMax) return refused({ reason: "TOO_MANY_STREAMS", streamsMax });
    this.#counts.set(holder, count + 1);
    return () => {
      const left = (this.#counts.get(holder) ?? 0) - 1;
      if (left > 0) this.#counts.set(holder, left);
      else this.#counts.delete(holder);
    };
  }
}

/** The end of a stream that nothing refused. */
export const DONE: Ending = { kind: "done", replayed: false };

interface OpenStreamContext {
  readonly contract: RpcContract;
  readonly dependencies: ServingDependencies;
}

/** A stream from its beginning to its end. It ends exactly once, and is logged in one line. */
export class OpenStream {
  readonly record: CallRecord;
  readonly #call: ServerDuplexStream<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>;
  readonly #context: OpenStreamContext;
  readonly #cleanups: (() => void)[] = [];
  readonly #ending = new AbortController();

  constructor(
    call: ServerDuplexStream<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
    context: OpenStreamContext,
  ) {
    this.#call = call;
    this.#context = context;
    this.record = recordOf(call.metadata, context.contract, context.dependencies.tracing);
  }

  /** Aborts when the stream ends, for whatever reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get hasEnded(): boolean {
    return this.signal.aborted;
  }

  /**
   * Admits the stream and runs it. Ends it if it is refused, or has nothing to do. Sends the head
   * once the stream is admitted, unless it comes with the response (`sendHead`).
   */
  begin<Admitted>(
    admit: () => Promise<{ readonly admitted: Admitted } | Ending>,
    run: (admitted: Admitted) => void | Promise<void>,
    { hasHeadLater = false }: { readonly hasHeadLater?: boolean } = {},
  ): void {
    const { contract, dependencies } = this.#context;
    dependencies.onInFlight(1);
    dependencies.meter?.rpc(contract).started();
    this.#call.once("cancelled", () => {
      this.end(DONE);
    });
    void this.endOnError(async () => {
      const admission = await admit();
      if ("admitted" in admission) {
        if (!hasHeadLater) this.sendHead();
        await run(admission.admitted);
      } else this.end(admission);
    });
  }

  /** Sends the head, with what it tells of the result. grpc-js sends it once. */
  sendHead(told: CallHead = { replayed: false }): void {
    this.#call.sendMetadata(headWith(headOf(this.record), told));
  }

  /** Calls `cleanUp` when the stream ends. */
  atEnd(cleanUp: () => void): void {
    this.#cleanups.push(cleanUp);
  }

  /**
   * Calls `stop` when the server begins to stop, also if it has begun already, and when the
   * connection has reached its age.
   */
  onStopping(stop: (refusal: AnyRefusal) => void): void {
    const { dependencies } = this.#context;
    const refuse = (): void => {
      stop({ reason: "SHUTTING_DOWN" });
    };
    this.atEnd(dependencies.onStopping(refuse));
    const stay = dependencies.onConnectionClosing?.(this.#call.getPeer(), refuse);
    if (stay !== undefined) this.atEnd(stay);
    // The server may have begun to stop during the look-up of the key.
    if (dependencies.isStopping()) refuse();
  }

  /** Resolves once the client has read enough that there is room for more, or at the end. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.hasEnded) {
        resolve();
        return;
      }
      const written = (): void => {
        this.signal.removeEventListener("abort", written);
        resolve();
      };
      this.signal.addEventListener("abort", written);
      this.#call.write(bytes, written);
    });
  }

  /** Ends the stream if `work` throws: an error is a bug or a failure of the database. */
  async endOnError(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.hasEnded) return;
      this.record.thrown = error;
      this.end(refused(refusalOfThrown(error, this.record.requestId)));
    }
  }

  /** Sends the status, and logs the stream. Does nothing after the end. */
  end(ending: Ending): void {
    if (this.hasEnded) return;
    const { contract, dependencies } = this.#context;
    const { logger } = dependencies;
    this.#ending.abort();
    for (const cleanUp of this.#cleanups) cleanUp();
    try {
      if (ending.kind === "refused") this.#call.emit("error", withHead(ending.status, headOf(this.record)));
      else {
        // An admitted stream has sent it already.
        this.sendHead();
        this.#call.end();
      }
      const meter = dependencies.meter?.rpc(contract);
      logCall({ logger, meter }, contract, { record: this.record, ending, cancelled: this.#call.cancelled });
    } catch (error) {
      logger.fatal({ method: contract.name, trace: traceOf(error) }, "the response of a call could not be sent");
    } finally {
      dependencies.onInFlight(-1);
    }
  }
}
