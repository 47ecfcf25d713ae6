import { randomUUID } from "node:crypto";

import { type Metadata, type ServiceError } from "@grpc/grpc-js";

import type { Connection, Running } from "./connection.js";
import { decode, type Message } from "./decode.js";
import { encode } from "./encode.js";
import type { Rpc, RpcName } from "./gen/tables.js";
import { KescError, refusalOf } from "./kesc-error.js";
import { isUnanswered, isWorthAnotherTry, restBefore } from "./retry.js";

const REPLAYED = "idempotent-replayed";
// Each of these calls does something of its own, however often it is repeated.
const NEVER_REPEATED: readonly RpcName[] = ["advanceTransaction", "sendTestEvent"];
// A freeze and a new secret have no natural key: two calls with the same words are two of them. A
// replay of a new endpoint shows its secret only to the key of the first call.
const NEEDS_KEY: readonly RpcName[] = ["freezeAccount", "createWebhookEndpoint", "rotateWebhookSecret"];

export interface CallOptions {
  /** The time for the call with all its tries, in milliseconds. Default: 30 seconds. */
  readonly timeoutMillis?: number | undefined;
  /** Ends the call: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** What a method may get besides the request. */
export interface AnyOptions extends CallOptions {
  readonly idempotencyKey?: string | undefined;
  readonly validateOnly?: boolean | undefined;
}

/** Calls an rpc, and repeats it while that is safe and may help. Rejects with a KescError. */
export async function callUnary(
  connection: Connection,
  { name, rpc }: { readonly name: RpcName; readonly rpc: Rpc },
  { request, options = {} }: { readonly request: unknown; readonly options: AnyOptions | undefined },
): Promise<Message | undefined> {
  const { validateOnly = false, timeoutMillis = connection.timeoutMillis } = options;
  const bytes = Buffer.from(encode(rpc.request, request));
  const running = connection.begin(options.signal);
  const key = options.idempotencyKey ?? (NEEDS_KEY.includes(name) && !validateOnly ? randomUUID() : undefined);
  if (key !== undefined) running.metadata.set("idempotency-key", headerOf(key));
  if (validateOnly) running.metadata.set("kesc-validate-only", "true");
  const deadline = Date.now() + timeoutMillis;
  // A try without a response may have been executed, whatever a later one is refused with.
  let isOpen = false;
  try {
    for (let tries = 1; ; tries++) {
      try {
        const { response, replayed } = await tryOnce(connection, rpc, { bytes, running, deadline });
        return validateOnly ? undefined : { ...decode(rpc.response, response, refusalOf), replayed };
      } catch (error) {
        running.signal.throwIfAborted();
        const failure = KescError.ofCall(error as Partial<ServiceError>, running.requestId);
        isOpen ||= rpc.writes === true && !validateOnly && isUnanswered(failure);
        const mayRepeat = isWorthAnotherTry(failure) && !(isOpen && NEVER_REPEATED.includes(name));
        if (mayRepeat && (await restBefore(tries, { failure, deadline, signal: running.signal }))) continue;
        throw isOpen && (isUnanswered(failure) || mayRepeat) ? failure.outcomeUnknown() : failure;
      }
    }
  } catch (error) {
    running.signal.throwIfAborted();
    throw error;
  } finally {
    running.end();
  }
}

function headerOf(idempotencyKey: string): string {
  if (typeof idempotencyKey === "string" && /^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) return idempotencyKey;
  throw new TypeError("idempotencyKey must be 1 to 255 printable ASCII characters without spaces");
}

interface Try {
  readonly bytes: Buffer;
  readonly running: Running;
  readonly deadline: number;
}

function tryOnce(
  { client }: Connection,
  { path }: Rpc,
  { bytes, running, deadline }: Try,
): Promise<{ response: Buffer; replayed: boolean }> {
  const { metadata, signal } = running;
  return new Promise((resolve, reject) => {
    let replayed = false;
    const call = client.makeUnaryRequest(path, same, same, bytes, metadata, { deadline }, (error, response) => {
      signal.removeEventListener("abort", cancel);
      if (error === null && response !== undefined) resolve({ response, replayed });
      else reject(error ?? new Error("the service sent no response"));
    });
    const cancel = (): void => {
      call.cancel();
    };
    call.on("metadata", (initial: Metadata) => {
      replayed = initial.get(REPLAYED).includes("true");
    });
    signal.addEventListener("abort", cancel);
  });
}

export function same(bytes: Buffer): Buffer {
  return bytes;
}
