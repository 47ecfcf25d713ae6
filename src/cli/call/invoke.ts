import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";

import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { Client, ClientDuplexStream, Metadata, StatusObject } from "@grpc/grpc-js";

import { toRpc } from "../../../contract/rpc.js";

const REPLAYED = "idempotent-replayed";
const REQUEST_ID = "x-request-id";

export interface InvokeOptions {
  readonly metadata: Metadata;
  /** In milliseconds since 1970. Undefined: the call may take any time. */
  readonly deadline: number | undefined;
  readonly onResponse: (response: Message) => void;
}

/** How a call ended. */
export interface CallEnd {
  /** `code` 0 is OK. */
  readonly status: StatusObject;
  /** Whether an earlier call did the same before. */
  readonly replayed: boolean;
  readonly requestId: string | undefined;
}

/**
 * Calls a method of any kind: on the wire a unary call is a stream with one message. Sends the
 * requests in turn while the server reads them. Rejects only when a request cannot be read.
 */
export async function invoke(
  client: Client,
  method: DescMethod,
  requests: AsyncIterable<Message> | Iterable<Message>,
  { metadata, deadline, onResponse }: InvokeOptions,
): Promise<CallEnd> {
  const call = client.makeBidiStreamRequest(
    toRpc(method).path,
    (message: Message) => Buffer.from(toBinary(method.input, message)),
    (bytes) => fromBinary(method.output, bytes),
    metadata,
    deadline === undefined ? {} : { deadline },
  );
  let replayed = false;
  let requestId: string | undefined;
  const note = (received: Metadata): void => {
    replayed ||= received.get(REPLAYED).includes("true");
    requestId ??= received.get(REQUEST_ID)[0]?.toString();
  };
  call.on("metadata", note);
  // Runs of commands in one process share the connection: its events may belong to another run.
  call.on("data", AsyncLocalStorage.bind(onResponse));
  // The listener for "status" gets the error, too.
  call.on("error", () => undefined);
  const status = new Promise<StatusObject>((resolve) => {
    call.on("status", resolve);
  });
  const readToTheEnd = new Promise<void>((resolve) => {
    call.on("end", resolve);
  });
  try {
    // The server may end a stream while this side waits for the next request.
    await Promise.race([sendAll(call, requests), status]);
  } catch (error) {
    call.cancel();
    throw error;
  }
  // The status may come before the last response has been read.
  const [end] = await Promise.all([status, readToTheEnd]);
  note(end.metadata);
  return { status: end, replayed, requestId };
}

async function sendAll(
  call: ClientDuplexStream<Message, Message>,
  requests: AsyncIterable<Message> | Iterable<Message>,
): Promise<void> {
  for await (const request of requests) {
    // An error of the call ends the waiting, too. Its status says why.
    if (!call.write(request)) await once(call, "drain").catch(() => undefined);
  }
  call.end();
}
