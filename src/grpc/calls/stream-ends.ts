import type { ServerDuplexStream, ServerWritableStream } from "@grpc/grpc-js";

import { traceOf } from "../../../runtime/error-trace.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { RpcContract } from "../messages/contract.js";
import { type CallDependencies, type CallRecord, headOf } from "./call-context.js";
import { type Ending, logCall } from "./call-log.js";

/** Counts the open streams of each organization at one rpc. */
export class OpenStreams {
  readonly #counts = new Map<OrganizationId, number>();

  /**
   * Counts one more, and returns how to leave. Undefined if the organization has as many already.
   */
  enter(organizationId: OrganizationId, max: number): (() => void) | undefined {
    const count = this.#counts.get(organizationId) ?? 0;
    if (count >= max) return undefined;
    this.#counts.set(organizationId, count + 1);
    return () => {
      const left = (this.#counts.get(organizationId) ?? 0) - 1;
      if (left > 0) this.#counts.set(organizationId, left);
      else this.#counts.delete(organizationId);
    };
  }
}

interface EndedStream {
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  readonly record: CallRecord;
}

/** Sends the status of a stream, and logs the stream in one line. */
export function endStream(
  call: ServerDuplexStream<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>,
  ending: Ending,
  { contract, dependencies, record }: EndedStream,
): void {
  const { logger } = dependencies;
  const meter = dependencies.meter?.rpc(contract);
  try {
    // grpc-js sends it only if the stream has not sent it yet.
    call.sendMetadata(headOf(record));
    if (ending.kind === "refused") call.emit("error", ending.status);
    else call.end();
    logCall({ logger, meter }, contract, { record, ending, cancelled: call.cancelled });
  } catch (error) {
    logger.fatal({ method: contract.name, trace: traceOf(error) }, "the response of a call could not be sent");
  } finally {
    dependencies.onInFlight(-1);
  }
}
