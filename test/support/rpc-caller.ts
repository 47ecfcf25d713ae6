import { type DescMessage, fromBinary, fromJson, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";

import type { Rpc } from "../../gateway/contract/rpc.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import { type GrpcRefusal, refusalOf } from "./grpc-caller.js";

/** What a call of any rpc came to. */
export interface RpcAnswer extends GrpcRefusal {
  /** With field names as in the contract; empty when it was refused. */
  readonly response: JsonObject;
  readonly replayed: boolean;
}

export interface RpcOptions {
  /** The empty text sends none. */
  readonly key: string;
  readonly deadlineMillis?: number;
}

const DEADLINE_MILLIS = 10_000;
const { files: registry } = readContract();

/** Calls whatever rpc the contract has, with whatever bytes: it knows none by name. */
export class RpcCaller {
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
  }

  call(rpc: Rpc, request: Uint8Array, { key, deadlineMillis = DEADLINE_MILLIS }: RpcOptions): Promise<RpcAnswer> {
    const metadata = new Metadata();
    if (key !== "") metadata.set("x-api-key", key);
    return new Promise((resolve) => {
      let replayed = false;
      const call = this.#client.makeUnaryRequest(
        rpc.path,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes) => bytes,
        request,
        metadata,
        { deadline: Date.now() + deadlineMillis },
        (error, bytes) => {
          const response = bytes === undefined ? {} : jsonOf(rpc.output, bytes);
          resolve({ ...refusalOf(error), response, replayed });
        },
      );
      call.on("metadata", (initial) => {
        replayed = initial.get("idempotent-replayed").length > 0;
      });
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** The message that the JSON says, with enum values by name or number. */
export function bytesOf(desc: DescMessage, json: JsonObject): Uint8Array {
  return toBinary(desc, fromJson(desc, json, { registry }));
}

/** What the bytes say, every field named; throws where they are not the message. */
function jsonOf(desc: DescMessage, bytes: Uint8Array): JsonObject {
  const options = { registry, useProtoFieldName: true, alwaysEmitImplicit: true };
  return toJson(desc, fromBinary(desc, bytes), options) as JsonObject;
}
