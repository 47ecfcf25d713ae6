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
  /** Sends a file in pieces, behind a message with the fields. Repeats nothing. */
  send<Rpc extends RpcName>(rpc: Rpc, fields: Fields, file: SentFile, context: CallContext): Promise<ActedOf<Rpc>>;
  close(): void;
}

/** The bytes of a field. */
export interface SentFile {
  readonly field: string;
  readonly bytes: Buffer;
}

const READ_MILLIS_MAX = 2_000;
const ACT_MILLIS_MAX = 10_000;
const SEND_MILLIS_MAX = 60_000;
/** It looks at each row of a file, and gives way to others. */
const PAY_FILE = "AdminService/PayFile" satisfies RpcName;
const PAY_FILE_MILLIS_MAX = 600_000;
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
    send: async (rpc, fields, { field, bytes }, context) => {
      const request = contract.encode(rpc, fields);
      if (!Buffer.isBuffer(request)) return { ok: false, refusal: malformed(request) };
      const messages = function* (): Generator<Buffer, void, void> {
        yield request;
        for (let start = 0; start < bytes.length; start += PIECE_BYTES)
          yield contract.encodePiece(rpc, field, bytes.subarray(start, start + PIECE_BYTES));
      };
      const deadline = Date.now() + (rpc === PAY_FILE ? PAY_FILE_MILLIS_MAX : SEND_MILLIS_MAX);
      const { result, told } = await stream(client, contract.pathOf(rpc), { messages: messages(), context, deadline });
      return Buffer.isBuffer(result)
        ? { ok: true, value: { ...told, ...contract.decode(rpc, result) } as Told & Responses[typeof rpc] }
        : { ok: false, refusal: readRefusal(readFailure(result).status) };
    },
    close: () => {
      client.close();
    },
  };
}

/** Streams the messages until the server ends the call: it may refuse a file before its end. */
async function stream(
  client: Client,
  path: string,
  { messages, context, deadline }: SentStream,
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
  for (const message of messages) {
    if (ended.signal.aborted) break;
    if (!call.write(message)) await Promise.race([once(call, "drain"), result.promise]);
  }
  call.end();
  return { result: await result.promise, told };
}

interface SentStream {
  readonly messages: Iterable<Buffer>;
  readonly context: CallContext;
  readonly deadline: number;
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
