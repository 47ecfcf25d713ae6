import { create, fromBinary, toBinary, type FileRegistry, type Message } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { CallBatcher } from "./call-batcher.js";
import { rpcOf } from "./contract.js";
import type { CallOptions, Outcome, Refused } from "./outcome.js";
import type { Rpc } from "./rpc.js";

/** The server, seen from the gateway. */
export type Upstream = {
  /** Calls an rpc. A refusal, a lost connection too, is an outcome and never throws. */
  call(rpc: Rpc, request: Message, options: CallOptions): Promise<Outcome>;
  /** Whether the server says, within five seconds, that it serves. */
  isServing(): Promise<boolean>;
  close(): void;
};

const REPLAYED = "idempotent-replayed";
const STATUS_DETAILS = "grpc-status-details-bin";
// Longer than the server is busy with a storm of calls: it serves them.
const HEALTH_MILLISECONDS_MAX = 5_000;
const HEALTH_SERVING = 1;

const CHANNEL_OPTIONS = {
  // A full page of the largest transactions is some 40 MiB; the default of 4 MiB would make it an error.
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
 * Opens the way to the server. It connects with the first call, and again whenever the connection is lost. A request of
 * many, where calls are sent together, has at most `bulkBytesMax`.
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
        deadline: Date.now() + HEALTH_MILLISECONDS_MAX,
        whenCanceled: () => undefined,
      });
      return outcome.ok && (outcome.message as Message & { status?: number }).status === HEALTH_SERVING;
    },
    close: () => {
      client.close();
    },
  };
}

function callUnary(client: Client, rpc: Rpc, request: Uint8Array, options: CallOptions): Promise<Outcome> {
  return new Promise((resolve) => {
    let replayed = false;
    let result: { error: ServiceError } | { message: Message } | undefined;
    const call = client.makeUnaryRequest(
      rpc.path,
      toBuffer,
      (bytes) => fromBinary(rpc.output, bytes),
      request,
      options.metadata,
      { deadline: options.deadline },
      (error, message) => {
        if (error !== null) result = { error };
        else if (message !== undefined) result = { message };
      },
    );
    options.whenCanceled(() => {
      call.cancel();
    });
    call.on("metadata", (metadata) => (replayed ||= saysReplayed(metadata)));
    // After the callback, and the only one of the two that has the trailers of a call that worked.
    call.on("status", ({ code, details, metadata }) => {
      if (result !== undefined && "message" in result) {
        resolve({ ok: true, message: result.message, replayed: replayed || saysReplayed(metadata) });
      } else {
        resolve(refusedBy(result?.error ?? { code, details, metadata }));
      }
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
