import { type FileRegistry, fromBinary, type Message } from "@bufbuild/protobuf";
import type { StatusObject } from "@grpc/grpc-js";

import { messageOf } from "./contract.js";
import { RPC_STATUS } from "./json-support.js";
import type { RpcStatus, UpstreamFailure } from "./rpc.js";

const STATUS_DETAILS = "grpc-status-details-bin";

/** Reads the status with which the server, or the connection, has ended a call. */
export type ReadFailure = (status: StatusObject) => UpstreamFailure;

/** Makes the reader from the contract's own google.rpc.Status. */
export function failureReader(registry: FileRegistry): ReadFailure {
  const rpcStatus = messageOf(registry, RPC_STATUS);
  return ({ code, details: message, metadata }) => {
    const bytes = metadata.get(STATUS_DETAILS)[0];
    const decoded = typeof bytes === "object" ? (fromBinary(rpcStatus, bytes) as Message & RpcStatus) : undefined;
    return { ok: false, status: { code, message, details: decoded?.details ?? [] } };
  };
}
