import { create, type FileRegistry, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";

import { rpcOf } from "../contract/contract.js";
import type { CallOptions, Outcome, Refused } from "../contract/outcome.js";
import type { Rpc } from "../contract/rpc.js";
import { CallBatcher } from "./call-batcher.js";

/** The server, seen from the gateway. */
export interface Upstream {
  /**
   * Calls an rpc. A refusal, a lost connection too, is an outcome; rejects only when the server
   * answers what the contract does not know: a bug.
   */
  call(rpc: Rpc, request: Message, options: CallOptions): Promise<Outcome>;
  /** Whether the server says, within five seconds, that it serves. */
  isServing(): Promise<boolean>;
  close(): void;
}

const REPLAYED = "idempotent-replayed";
const STATUS_DETAILS = "grpc-status-details-bin";
// Longer than the server is busy with a storm of calls: it serves them.
const HEALTH_MILLIS_MAX = 5_000;
const HEALTH_SERVING = 1;

const CHANNEL_OPTIONS = {
  // A full page of the largest transactions is some 40 MiB; the default of 4 MiB would make it an
  // error.
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
  // A server that comes back is found again within a second; the default waits up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.keepalive_time_ms": 60_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.service_config_disable_resolution": 1,
  "grpc.enable_channelz": 0,
};

/**
 * Opens the way to the server. It connects with the first call, and again whenever the connection
 * is lost. A request of many, where calls are sent together, has at most `bulkBytesMax`.
 */
export function createUpstream(registry: FileRegistry, target: string, bulkBytesMax: number): Upstream {
  const client = new Client(target, credentials.createInsecure(), CHANNEL_OPTIONS);
  const batcher = new CallBatcher((rpc, request, options) => callUnary(client, rpc, request, options), bulkBytesMax);
  const health = rpcOf(registry, "grpc.health.v1.Health", "Check");
  return {
    call: (rpc, request, options) => batcher.call(rpc, toBinary(rpc.input, request), options),
    isServing: async () => {
      const outcome = await callUnary(client, health, toBinary(health.input, create(health.input)), {
        metadata: new Metadata(),
        deadline: Date.now() + HEALTH_MILLIS_MAX,
        whenCanceled: () => undefined,
      });
      return outcome.ok && (outcome.message as Message & { status?: number }).status === HEALTH_SERVING;
    },
    close: () => {
      client.close();
    },
  };
}

async function callUnary(client: Client, rpc: Rpc, request: Uint8Array, options: CallOptions): Promise<Outcome> {
  const ending = await callEncoded(client, rpc.path, request, options);
  if (!ending.ok) return ending;
  return { ok: true, message: fromBinary(rpc.output, ending.bytes), replayed: ending.replayed };
}

type Ending = { readonly ok: true; readonly bytes: Buffer; readonly replayed: boolean } | Refused;

function callEncoded(client: Client, path: string, request: Uint8Array, options: CallOptions): Promise<Ending> {
  return new Promise((resolve) => {
    // Forgotten with the end: Node's HTTP/2 keeps old streams for a while, and they lead here
    // (docs/adr/0015).
    let end: ((ending: Ending) => void) | undefined = resolve;
    let replayed = false;
    let result: { error: ServiceError } | { bytes: Buffer } | undefined;
    const call = client.makeUnaryRequest(
      path,
      toBuffer,
      (bytes) => bytes,
      request,
      options.metadata,
      { deadline: options.deadline },
      (error, bytes) => {
        if (error !== null) result = { error };
        else if (bytes !== undefined) result = { bytes };
      },
    );
    options.whenCanceled(() => {
      call.cancel();
    });
    call.on("metadata", (metadata) => (replayed ||= saysReplayed(metadata)));
    // After the callback, and the only one of the two that has the trailers of a call that worked.
    call.on("status", ({ code, details, metadata }) => {
      if (result !== undefined && "bytes" in result) {
        end?.({ ok: true, bytes: result.bytes, replayed: replayed || saysReplayed(metadata) });
      } else {
        end?.(refusedBy(result?.error ?? { code, details, metadata }));
      }
      end = undefined;
    });
  });
}

function saysReplayed(metadata: Metadata): boolean {
  return metadata.get(REPLAYED).includes("true");
}

function refusedBy({ code, details, metadata }: Pick<ServiceError, "code" | "details" | "metadata">): Refused {
  const bytes = metadata.get(STATUS_DETAILS)[0];
  return { ok: false, code, text: details, statusBytes: typeof bytes === "string" ? undefined : bytes };
}

/** The same bytes: grpc-js wants them as a Buffer. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
