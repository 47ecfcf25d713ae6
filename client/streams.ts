import type { ServiceError } from "@grpc/grpc-js";

import type { Connection, Running } from "./connection.js";
import { decode, type Message } from "./decode.js";
import { encode, encodeItem } from "./encode.js";
import type { Rpc } from "./gen/tables.js";
import { KescError, refusalOf } from "./kesc-error.js";
import { isWorthAnotherTry, restBefore } from "./retry.js";
import { type CallOptions, same } from "./unary.js";

/** The server of a stream without an end sends something at least every 15 seconds. */
const SILENCE_MILLIS_MAX = 45_000;
// Well below the limit of the server, KESC_BULK_BYTES_MAX, which is 1 MiB by default.
const CHUNK_BYTES_MAX = 131_072;
const CHUNK_ITEMS_MAX = 500;

type Items = AsyncGenerator<unknown, void, void>;

/** What a stream is called with. The time in its options is that without a message. */
interface GivenStream {
  readonly request: unknown;
  readonly options: CallOptions;
}

/**
 * Yields each item after the position of the request, in order, and then each new one. Goes on
 * where it was after the connection was lost. Ends when the signal aborts.
 *
 * Each item is yielded once. A program that must not miss one stores its sequence together with
 * what it did, and begins after it the next time.
 */
export async function* watch(connection: Connection, rpc: Rpc, { request, options: { signal } }: GivenStream): Items {
  const { items = "", after = "" } = rpc;
  encode(rpc.request, request);
  let position: unknown = (request as Message)[after] ?? 0;
  const open: Open = (running) => {
    const bytes = encode(rpc.request, { ...(request as Message), [after]: position });
    return serverStream(connection, rpc, { bytes, running, silenceMillis: SILENCE_MILLIS_MAX });
  };
  try {
    for await (const message of resumed(connection, { open, signal, isEndless: true })) {
      yield* message[items] as unknown[];
      position = message["next_sequence"];
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

/**
 * Yields each item of a stream that ends. The same call always returns the same items, so after a
 * lost connection it is called again, and the items that were yielded are left out. Throws unless
 * it has yielded the last one.
 */
export async function* exported(connection: Connection, rpc: Rpc, { request, options }: GivenStream): Items {
  const bytes = encode(rpc.request, request);
  let yielded = 0;
  let passed = 0;
  const open: Open = (running) => {
    passed = 0;
    return serverStream(connection, rpc, { bytes, running });
  };
  for await (const message of resumed(connection, { open, ...options })) {
    for (const item of message[rpc.items ?? ""] as unknown[]) {
      passed += 1;
      if (passed <= yielded) continue;
      yielded = passed;
      yield item;
    }
  }
}

/**
 * Sends items, and yields the result of each, in their order. Takes the next ones when the caller
 * has taken the results of those before. After a lost connection it sends those again that have no
 * result: each has a key of its own that makes this safe.
 */
export async function* imported(connection: Connection, rpc: Rpc, { request: items, options }: GivenStream): Items {
  const chunks = chunksOf(rpc, items as Iterable<unknown> | AsyncIterable<unknown>);
  let chunk = await chunks.next();
  const open: Open = async function* (running) {
    const stream = connection.client.makeBidiStreamRequest(rpc.path, same, same, running.metadata);
    const responses = messagesOf(stream, rpc, { running });
    try {
      while (chunk.done !== true) {
        stream.write(chunk.value);
        const response = await responses.next();
        if (response.done === true) throw KescError.ofCall({ message: "the stream ended early" }, running.requestId);
        yield response.value;
        chunk = await chunks.next();
      }
    } finally {
      stream.end();
      await responses.return();
    }
  };
  for await (const message of resumed(connection, { open, ...options })) yield* message[rpc.items ?? ""] as unknown[];
}

/** Encodes items, as many together as one message should hold. */
async function* chunksOf(
  { request, given = "" }: Rpc,
  items: Iterable<unknown> | AsyncIterable<unknown>,
): AsyncGenerator<Buffer, void, void> {
  let chunk: Uint8Array[] = [];
  let [bytes, index] = [0, 0];
  for await (const item of items) {
    const message = encodeItem(request, given, { item, index });
    chunk.push(message);
    bytes += message.length;
    index += 1;
    if (chunk.length < CHUNK_ITEMS_MAX && bytes < CHUNK_BYTES_MAX) continue;
    yield Buffer.concat(chunk);
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield Buffer.concat(chunk);
}

type Open = (running: Running) => AsyncIterable<Message>;

interface Resumed extends CallOptions {
  readonly open: Open;
  /** The server may be away for a night: such a stream goes on when it is back. */
  readonly isEndless?: true;
}

/** Yields the messages of a stream, and opens it again after a failure that may pass. */
async function* resumed(connection: Connection, given: Resumed): AsyncGenerator<Message, void, void> {
  const { open, signal, timeoutMillis = connection.timeoutMillis, isEndless = false } = given;
  const patienceMillis = isEndless ? Infinity : timeoutMillis;
  const running = connection.begin(signal);
  let deadline = Date.now() + patienceMillis;
  try {
    for (let tries = 1; ; tries++) {
      const failure = yield* messagesUntilFailure(open(running), () => {
        tries = 0;
        deadline = Date.now() + patienceMillis;
      });
      if (failure === undefined && !isEndless) return;
      running.signal.throwIfAborted();
      const isMendable =
        failure === undefined || isWorthAnotherTry(failure) || (isEndless && failure.code === "INTERNAL");
      if (!isMendable) throw failure;
      const rest = { ...(failure && { failure }), deadline, signal: running.signal };
      if (!(await restBefore(tries, rest))) throw failure ?? new Error("a stream without an end has no deadline");
    }
  } catch (error) {
    running.signal.throwIfAborted();
    throw error;
  } finally {
    running.end();
  }
}

/** Yields messages, and returns the error of a call that failed. Throws every other error. */
async function* messagesUntilFailure(
  messages: AsyncIterable<Message>,
  onMessage: () => void,
): AsyncGenerator<Message, KescError | undefined, void> {
  try {
    for await (const message of messages) {
      yield message;
      onMessage();
    }
    return undefined;
  } catch (error) {
    if (error instanceof KescError) return error;
    throw error;
  }
}

interface Reading {
  readonly running: Running;
  /** The call is over if nothing comes for so long. */
  readonly silenceMillis?: number;
}

function serverStream(
  connection: Connection,
  rpc: Rpc,
  { bytes, ...reading }: Reading & { bytes: Uint8Array },
): Messages {
  const request = Buffer.from(bytes);
  const { metadata } = reading.running;
  return messagesOf(connection.client.makeServerStreamRequest(rpc.path, same, same, request, metadata), rpc, reading);
}

type Messages = AsyncGenerator<Message, void, void>;

/** The messages of one call. Throws a KescError if it fails, and cancels it when it is left. */
async function* messagesOf(
  stream: AsyncIterable<Buffer> & { cancel: () => void; on: (event: "error", listener: () => void) => unknown },
  rpc: Rpc,
  { running, silenceMillis }: Reading,
): Messages {
  const cancel = (): void => {
    stream.cancel();
  };
  running.signal.addEventListener("abort", cancel);
  // After the iteration was left, nobody else would hear the error.
  stream.on("error", () => undefined);
  const responses = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      // Not while the caller works on the last message.
      const silence = silenceMillis === undefined ? undefined : setTimeout(cancel, silenceMillis);
      const next = await responses.next().finally(() => {
        clearTimeout(silence);
      });
      if (next.done === true) return;
      yield decode(rpc.response, next.value, refusalOf);
    }
  } catch (error) {
    throw KescError.ofCall(error as Partial<ServiceError>, running.requestId);
  } finally {
    running.signal.removeEventListener("abort", cancel);
    cancel();
  }
}
