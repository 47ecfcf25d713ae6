import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Metadata, status } from "@grpc/grpc-js";

/** One rpc of the contract. */
export interface Rpc {
  /** The path of its gRPC calls: "/package.Service/Name". */
  readonly path: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** How several calls are sent as one batch; undefined: each call is sent alone. */
  readonly batching?: Batching;
}

/** How calls of one rpc are sent as the items of one call of a batch rpc. */
export interface Batching {
  readonly batchRpc: Rpc;
  /**
   * Encodes one request, with the metadata that belongs to it alone, as an item of a batch request.
   * The encoded batch request is its items, one after the other.
   */
  readonly encodeItem: (request: Uint8Array, metadata: Metadata) => Uint8Array;
  /** Returns a copy without the metadata that each item carries in fields of its own. */
  readonly batchMetadata: (metadata: Metadata) => Metadata;
  /** Returns the result of one item. Throws when the response has none: a bug of the server. */
  readonly resultAt: (index: number, response: Message) => UpstreamResult;
}

export interface RpcCallOptions {
  readonly metadata: Metadata;
  /** In milliseconds since 1970. */
  readonly deadline: number;
  /**
   * Takes the listener that cancels the call; calls it at once when the client has disconnected.
   */
  readonly onCancel: (listener: () => void) => void;
  /** Calls with the same key may be sent as one batch; undefined: the call is sent alone. */
  readonly batchKey?: string | undefined;
  /** Whether the call is recorded in a trace. Of a batch, the first such call names the trace. */
  readonly isTraced?: boolean | undefined;
}

/** The result of one call to the server. */
export type UpstreamResult = UpstreamSuccess | UpstreamFailure;

export interface UpstreamSuccess extends CallFacts {
  readonly ok: true;
  readonly message: Message;
  readonly replayed: boolean;
}

export interface UpstreamFailure extends CallFacts {
  readonly ok: false;
  /**
   * Without details when the error comes from the connection and not from the server's own code.
   */
  readonly status: RpcStatus;
  /**
   * Only for an item of a batch: the header that each field of the item carries, by the field's
   * name. The client sent the header, so a problem with the field is shown under the header's name.
   */
  readonly headerByField?: ReadonlyMap<string, string>;
}

/** How many calls the key has left, as the server wrote it. */
export interface RateLimit {
  /** The value of RateLimit-Policy. */
  readonly policy: string;
  /** The value of RateLimit. */
  readonly limit: string;
}

interface CallFacts {
  /** Undefined: the server has not counted the call. */
  readonly rateLimit?: RateLimit | undefined;
  /** Only for an item of a batch: the batch's request id, which the server logs. */
  readonly batchId?: string;
}

/** A decoded google.rpc.Status. */
export interface RpcStatus {
  readonly code: status;
  readonly message: string;
  readonly details: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
}

export function toRpc(method: DescMethod): Rpc {
  return { path: `/${method.parent.typeName}/${method.name}`, input: method.input, output: method.output };
}
