import { randomUUID } from "node:crypto";

import { type Client, Metadata, type ServiceError } from "@grpc/grpc-js";

import { KescError } from "./kesc-error.js";
import { isWorthAnotherTry, restBefore } from "./retry.js";

/** A unary rpc of the generated service definitions. */
export interface UnaryRpc<Request, Response> {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: false;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

export interface CallOptions {
  /** The time for the call with all its tries, in milliseconds. Default: 30 seconds. */
  readonly timeoutMillis?: number;
  readonly signal?: AbortSignal;
  /** See docs/api.md, "Repeating a call". */
  readonly idempotencyKey?: string;
  /** Only check the request: nothing is done, and the response is empty. */
  readonly validateOnly?: boolean;
}

export interface Connection {
  readonly client: Client;
  readonly apiKey: string;
  readonly timeoutMillis: number;
}

// Each of these calls does something of its own, however often it is repeated.
const NEVER_REPEATED = ["AdvanceTransaction", "RotateWebhookSecret", "SendTestEvent"];
// A freeze has no natural key: two freezes with the same words are two freezes.
const NEEDS_KEY = ["FreezeAccount"];

/** Calls an rpc, and repeats it while that is safe and may help. Rejects with a KescError. */
export async function call<Request extends object, Response>(
  rpc: UnaryRpc<Request, Response>,
  connection: Connection,
  { request, options = {} }: { readonly request: Partial<Request>; readonly options: CallOptions | undefined },
): Promise<Response> {
  const { timeoutMillis = connection.timeoutMillis, signal, validateOnly = false } = options;
  const name = rpc.path.slice(rpc.path.lastIndexOf("/") + 1);
  const idempotencyKey = options.idempotencyKey ?? (NEEDS_KEY.includes(name) ? randomUUID() : undefined);
  const requestId = randomUUID();
  const metadata = metadataOf(connection, requestId);
  if (idempotencyKey !== undefined) metadata.set("idempotency-key", idempotencyKey);
  if (validateOnly) metadata.set("kesc-validate-only", "true");
  // The fields that are absent have their defaults.
  const message = { ...rpc.requestDeserialize(Buffer.alloc(0)), ...request };
  const deadline = Date.now() + timeoutMillis;
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await tryOnce(connection.client, rpc, { message, metadata, deadline, signal });
    } catch (error) {
      const failure = KescError.ofCall(error as ServiceError, requestId);
      if (signal?.aborted === true) throw signal.reason;
      if (NEVER_REPEATED.includes(name) || !isWorthAnotherTry(failure)) throw failure;
      if (!(await restBefore(tries, { failure, deadline, signal }))) throw failure;
    }
  }
}

export function metadataOf({ apiKey }: Pick<Connection, "apiKey">, requestId: string): Metadata {
  const metadata = new Metadata();
  metadata.set("x-api-key", apiKey);
  metadata.set("x-request-id", requestId);
  return metadata;
}

interface Try<Request> {
  readonly message: Request;
  readonly metadata: Metadata;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

function tryOnce<Request, Response>(
  client: Client,
  { path, requestSerialize, responseDeserialize }: UnaryRpc<Request, Response>,
  { message, metadata, deadline, signal }: Try<Request>,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const running = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      message,
      metadata,
      { deadline },
      (error, response) => {
        signal?.removeEventListener("abort", cancel);
        if (error === null && response !== undefined) resolve(response);
        else reject(error ?? new Error("the service sent no response"));
      },
    );
    const cancel = (): void => {
      running.cancel();
    };
    signal?.addEventListener("abort", cancel);
  });
}
