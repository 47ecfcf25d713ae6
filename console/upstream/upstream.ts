import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { type ChannelCredentials, Client, Metadata, status, type StatusObject } from "@grpc/grpc-js";

import { failureReader } from "../../contract/failure.js";
import { CHANNEL_OPTIONS } from "../../runtime/transport/channel-options.js";
import { serverNameFor } from "../../runtime/transport/server-name.js";
import type { Responses } from "../gen/messages.js";
import type { ConsoleContract, Fields } from "./contract.js";
import { malformed, type Refusal, refusalReader } from "./refusal.js";

/** The response of a call, or why there is none. */
export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

/** The name of an rpc: "AccountService/GetAccount". */
export type RpcName = keyof Responses;
/** The response of an rpc, or why there is none. */
export type ReadingOf<Rpc extends RpcName> = Reading<Responses[Rpc]>;

/** What an act tells in the head of its call. */
export interface Told {
  /** It was done before. */
  readonly unchanged?: boolean;
  /** It waits for a second person. */
  readonly proposal?: { readonly id: string; readonly state: string };
}

/** The response of an act and what its head told, or why there is none. */
export type ActedOf<Rpc extends RpcName> = Reading<Told & Responses[Rpc]>;

/** Who calls, and about what. */
export interface CallContext {
  /** The token of the session. Undefined: nobody is signed in. */
  readonly token: string | undefined;
  readonly requestId: string;
  /** The organization of a read of kesc.v1. */
  readonly organizationId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Whether the server only checks the request, and does nothing. */
  readonly isOnlyChecked?: boolean | undefined;
}

/** The console's client of the operators' address. */
export interface Upstream {
  /** Reads within two seconds. Repeats a read once, silently, if the server was not there. */
  read<Rpc extends RpcName>(rpc: Rpc, fields: Fields, context: CallContext): Promise<ReadingOf<Rpc>>;
  /** Acts, once. */
  act<Rpc extends RpcName>(rpc: Rpc, fields: Fields, context: CallContext): Promise<ActedOf<Rpc>>;
  /** Sends files in pieces, behind a message with the fields. Repeats nothing. */
  send<Rpc extends RpcName>(rpc: Rpc, fields: Fields, sent: SentFiles, context: CallContext): Promise<ActedOf<Rpc>>;
  /**
   * Reads the bytes of a field, message by message. The refusal of a call that has sent nothing yet
   * is in the reading. A later one is thrown.
   */
  download(
    rpc: RpcName,
    fields: Fields,
    of: { readonly field: string },
    context: CallContext,
  ): Promise<Reading<AsyncIterable<Uint8Array>>>;
  close(): void;
}

/** The bytes of a field: files, one after another. */
export interface SentFiles {
  readonly field: string;
  readonly files: readonly Buffer[];
}

const READ_MILLIS_MAX = 2_000;
const ACT_MILLIS_MAX = 10_000;
const SEND_MILLIS_MAX = 60_000;
/** They make each file of a month's pack, or look at each row of a file, and give way to others. */
const SLOW: ReadonlySet<RpcName> = new Set<RpcName>([
  "AdminService/CloseMonth",
  "AdminService/PayFile",
  "AdminService/SetPayoutList",
]);
const SLOW_MILLIS_MAX = 600_000;
const PIECE_BYTES = 256 * 1_024;
/** It waits for a rail, which must not get the same questions twice. */
const PROBE = "AdminService/ProbeRailAccount" satisfies RpcName;
const PROBE_MILLIS_MAX = 30_000;
const REPEAT_AFTER_MILLIS = 150;
const REPEATED: ReadonlySet<status> = new Set([status.UNAVAILABLE, status.INTERNAL, status.UNKNOWN]);

interface UpstreamOptions {
  /** "host:port" or "unix:path". */
  readonly target: string;
  readonly credentials: ChannelCredentials;
  /** How long a read may take. A page that waits longer shows what it has. */
  readonly readMillisMax?: number | undefined;
}

/** Makes a client that connects with its first call and reconnects when the connection is lost. */
export function createUpstream(
  contract: ConsoleContract,
  { target, credentials, readMillisMax = READ_MILLIS_MAX }: UpstreamOptions,
): Upstream {
  const client = new Client(target, credentials, { ...CHANNEL_OPTIONS, ...serverNameFor(target) });
  const readFailure = failureReader(contract.registry);
  const readRefusal = refusalReader(contract.registry);
  const call = async <Rpc extends RpcName>(
    rpc: Rpc,
    fields: Fields,
    context: CallContext,
    deadline: number,
  ): Promise<ActedOf<Rpc>> => {
    const request = contract.encode(rpc, fields);
    if (!Buffer.isBuffer(request)) return { ok: false, refusal: malformed(request) };
    let told: Told = {};
    const result = await new Promise<Buffer | StatusObject>((resolve) => {
      const path = contract.pathOf(rpc);
      const sent = client.makeUnaryRequest(
        path,
        asIs,
        asIs,
        request,
        metadataOf(context),
        { deadline },
        (error, bytes) => {
          resolve(bytes ?? (error as StatusObject));
        },
      );
      sent.on("metadata", (head) => (told = toldBy(head)));
    });
    if (Buffer.isBuffer(result))
      return { ok: true, value: { ...told, ...contract.decode(rpc, result) } as Told & Responses[Rpc] };
    return { ok: false, refusal: readRefusal(readFailure(result).status) };
  };
  return {
    async read(rpc, fields, context) {
      if (rpc === PROBE) return call(rpc, fields, context, Date.now() + PROBE_MILLIS_MAX);
      const deadline = Date.now() + readMillisMax;
      const first = await call(rpc, fields, context, deadline);
      if (first.ok || !REPEATED.has(first.refusal.code)) return first;
      await sleep(REPEAT_AFTER_MILLIS);
      return call(rpc, fields, context, deadline);
    },
    act: (rpc, fields, context) => call(rpc, fields, context, Date.now() + ACT_MILLIS_MAX),
    send: async (rpc, fields, { field, files }, context) => {
      const request = contract.encode(rpc, fields);
      if (!Buffer.isBuffer(request)) return { ok: false, refusal: malformed(request) };
      const pieces = piecesOf(files, (bytes) => contract.encodePiece(rpc, field, bytes));
      const deadline = Date.now() + (SLOW.has(rpc) ? SLOW_MILLIS_MAX : SEND_MILLIS_MAX);
      const { result, told } = await stream(client, contract.pathOf(rpc), { request, pieces, context, deadline });
      return Buffer.isBuffer(result)
        ? { ok: true, value: { ...told, ...contract.decode(rpc, result) } as Told & Responses[typeof rpc] }
        : { ok: false, refusal: readRefusal(readFailure(result).status) };
    },
    download: async (rpc, fields, { field }, context) => {
      const request = contract.encode(rpc, fields);
      if (!Buffer.isBuffer(request)) return { ok: false, refusal: malformed(request) };
      const pieceOf = (message: Buffer): Uint8Array => contract.decodePiece(rpc, field, message);
      try {
        return { ok: true, value: await download(client, contract.pathOf(rpc), { request, context, pieceOf }) };
      } catch (error) {
        return { ok: false, refusal: readRefusal(readFailure(error as StatusObject).status) };
      }
    },
    close: () => {
      client.close();
    },
  };
}

interface DownloadCall {
  readonly request: Buffer;
  readonly context: CallContext;
  readonly pieceOf: (message: Buffer) => Uint8Array;
}

/** Rejects if the call ends before its first message. */
async function download(
  client: Client,
  path: string,
  { request, context, pieceOf }: DownloadCall,
): Promise<AsyncGenerator<Uint8Array, void, void>> {
  const deadline = Date.now() + SLOW_MILLIS_MAX;
  const call = client.makeServerStreamRequest(path, asIs, asIs, request, metadataOf(context), { deadline });
  const messages = call[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const first = await messages.next();
  return (async function* () {
    try {
      for (let next = first; next.done !== true; next = await messages.next()) yield pieceOf(next.value);
    } finally {
      // The browser may have gone.
      call.cancel();
    }
  })();
}

function* piecesOf(files: readonly Buffer[], encode: (bytes: Buffer) => Buffer): Generator<Buffer, void, void> {
  for (const bytes of files) {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      yield encode(bytes.subarray(start, start + PIECE_BYTES));
    }
  }
}

interface StreamedCall {
  /** The first message. */
  readonly request: Buffer;
  readonly pieces: Iterable<Buffer>;
  readonly context: CallContext;
  readonly deadline: number;
}

/** Streams the messages until the server ends the call: it may refuse a file before its end. */
async function stream(
  client: Client,
  path: string,
  { request, pieces, context, deadline }: StreamedCall,
): Promise<{ readonly result: Buffer | StatusObject; readonly told: Told }> {
  const ended = new AbortController();
  const result = Promise.withResolvers<Buffer | StatusObject>();
  let told: Told = {};
  const call = client.makeClientStreamRequest(
    path,
    asIs,
    asIs,
    metadataOf(context),
    { deadline },
    (error, response) => {
      result.resolve(response ?? (error as StatusObject));
      ended.abort();
    },
  );
  call.on("metadata", (head) => (told = toldBy(head)));
  call.write(request);
  for (const message of pieces) {
    if (ended.signal.aborted) break;
    if (!call.write(message)) await Promise.race([once(call, "drain"), result.promise]);
  }
  call.end();
  return { result: await result.promise, told };
}

function metadataOf({ token, requestId, organizationId, idempotencyKey, isOnlyChecked }: CallContext): Metadata {
  const metadata = new Metadata();
  metadata.set("x-request-id", requestId);
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  if (organizationId !== undefined) metadata.set("kesc-organization", organizationId);
  if (idempotencyKey !== undefined) metadata.set("idempotency-key", idempotencyKey);
  if (isOnlyChecked === true) metadata.set("kesc-validate-only", "true");
  return metadata;
}

function toldBy(head: Metadata): Told {
  const [id] = head.get("kesc-proposal");
  return {
    ...(head.get("idempotent-replayed").includes("true") ? { unchanged: true } : {}),
    ...(id === undefined ? {} : { proposal: { id: String(id), state: "pending" } }),
  };
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
