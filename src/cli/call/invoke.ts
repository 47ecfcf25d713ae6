import { once } from "node:events";

import type { Client, ClientDuplexStream, StatusObject } from "@grpc/grpc-js";
import { Metadata } from "@grpc/grpc-js";

export interface InvokeOptions {
  /** "/package.Service/Name". */
  readonly path: string;
  /** The metadata of the call. An undefined value is not sent. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Undefined: the call may take any time. */
  readonly deadlineMillis: number | undefined;
}

/** How a call ended. */
export interface CallEnd {
  /** `code` 0 is OK. */
  readonly status: StatusObject;
  /** Whether an earlier call did the same before. */
  readonly replayed: boolean;
  /** The proposal that waits for a second person. Then nothing was done. */
  readonly proposalId: string | undefined;
  readonly requestId: string | undefined;
}

/**
 * Calls a method of any kind: on the wire a unary call is a stream with one message. Sends the
 * requests in turn while the server reads them, and yields each response. Returns how the call
 * ended. Rejects only when a request cannot be read.
 */
export async function* invoke(
  client: Client,
  { path, headers, deadlineMillis }: InvokeOptions,
  requests: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, CallEnd> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) metadata.set(name, value);
  const options = deadlineMillis === undefined ? {} : { deadline: Date.now() + deadlineMillis };
  const call = client.makeBidiStreamRequest(path, (bytes: Uint8Array) => Buffer.from(bytes), asIs, metadata, options);
  const head = new Metadata();
  call.on("metadata", (received: Metadata) => {
    head.merge(received);
  });
  // The listener for "status" gets the error, too.
  call.on("error", () => undefined);
  const status = new Promise<StatusObject>((resolve) => {
    call.on("status", resolve);
  });
  let unreadable: unknown;
  // The server may end a stream while this side waits for the next request: so nobody waits here.
  void sendAll(call, requests).catch((error: unknown) => {
    unreadable = error;
    call.cancel();
  });
  try {
    yield* call as AsyncIterable<Buffer>;
  } catch {
    // The status says why.
  }
  const end = await status;
  if (unreadable !== undefined) throw unreadable as Error;
  head.merge(end.metadata);
  const noted = (name: string): string | undefined => head.get(name)[0]?.toString();
  return {
    status: end,
    replayed: head.get("idempotent-replayed").includes("true"),
    proposalId: noted("kesc-proposal"),
    requestId: noted("x-request-id"),
  };
}

async function sendAll(
  call: ClientDuplexStream<Uint8Array, Buffer>,
  requests: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  for await (const request of requests) {
    // An error of the call ends the waiting, too. Its status says why.
    if (!call.write(request)) await once(call, "drain").catch(() => undefined);
  }
  call.end();
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
