import { create, fromBinary, toBinary, type FileRegistry, type Message } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, type status } from "@grpc/grpc-js";
import { rpcOf, type Rpc } from "./contract.js";

type CallOptions = {
  readonly metadata: Metadata;
  /** When the call is given up, in milliseconds since 1970. */
  readonly deadline: number;
  /** Has a listener called when the call is to be canceled, at once when it is. */
  readonly whenCanceled: (listener: () => void) => void;
};

export type Answered = { readonly ok: true; readonly message: Message; readonly replayed: boolean };

export type Refused = {
  readonly ok: false;
  readonly code: status;
  readonly text: string;
  /** A serialized google.rpc.Status; undefined when the refusal does not come from the server's own code. */
  readonly statusBytes: Uint8Array | undefined;
};

export type Outcome = Answered | Refused;

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

/** Opens the way to the server. It connects with the first call, and again whenever the connection is lost. */
export function createUpstream(registry: FileRegistry, target: string): Upstream {
  const client = new Client(target, credentials.createInsecure(), CHANNEL_OPTIONS);
  const health = rpcOf(registry, "grpc.health.v1.Health", "Check");
  return {
    call: (rpc, request, options) => callUnary(client, rpc, request, options),
    isServing: async () => {
      const outcome = await callUnary(client, health, create(health.input), {
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

function callUnary(client: Client, rpc: Rpc, request: Message, options: CallOptions): Promise<Outcome> {
  return new Promise((resolve) => {
    let replayed = false;
    let result: { error: ServiceError } | { message: Message } | undefined;
    const call = client.makeUnaryRequest(
      rpc.path,
      (message: Message) => toBuffer(toBinary(rpc.input, message)),
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
