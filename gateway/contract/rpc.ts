import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import type { Metadata } from "@grpc/grpc-js";

import type { Outcome } from "./outcome.js";

/** One unary rpc: what it takes to call it. */
export interface Rpc {
  readonly path: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** How many calls of it can be sent as one; undefined when they can't. */
  readonly batching?: Batching;
}

/**
 * How calls of one rpc are sent as one call of another, which answers each as if it had been called
 * alone.
 */
export interface Batching {
  /** The rpc that takes many requests. */
  readonly by: Rpc;
  /**
   * Makes an encoded request a part of an encoded request of many, which is nothing but its parts,
   * one after the other. What the metadata says of this request alone goes with it.
   */
  readonly partOf: (request: Uint8Array, metadata: Metadata) => Uint8Array;
  /** The metadata of the call of many: of one of its calls', what it shares with the others. */
  readonly sharedOf: (metadata: Metadata) => Metadata;
  /**
   * What became of the request at that index. Throws when the answer does not say: a bug of the
   * server.
   */
  readonly outcomeAt: (index: number, answer: Message) => Outcome;
}

export function toRpc(method: DescMethod): Rpc {
  return { path: `/${method.parent.typeName}/${method.name}`, input: method.input, output: method.output };
}
