import { type DescMessage, type FileRegistry, fromBinary, getOption } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { extensionOf, messageOf } from "../../contract/contract.js";
import type { RequestProblem } from "../../contract/field-problem.js";
import type { RpcStatus } from "../../contract/rpc.js";

/** Why a call has no response, in the words of the contract. */
export interface Refusal {
  readonly code: status;
  /** Undefined: the error comes from the connection, and not from the server. */
  readonly reason: string | undefined;
  readonly text: string;
  /** What to do about it. Undefined if the contract says nothing. */
  readonly advice: string | undefined;
}

/** Whether nobody can say if the server has acted. */
export function isUnknown({ code, reason }: Refusal): boolean {
  if (reason !== undefined) return reason === "OUTCOME_UNKNOWN";
  return code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED;
}

interface ErrorInfo {
  readonly reason: string;
}

const UNREACHABLE: Readonly<Partial<Record<status, string>>> = {
  [status.UNAVAILABLE]: "The server is unreachable.",
  [status.DEADLINE_EXCEEDED]: "The server did not respond in time.",
};

/** Returns the refusal that the server would send, if it could read the request. */
export function malformed(problems: readonly RequestProblem[]): Refusal {
  const text = `Invalid request: ${problems.map(({ field, message }) => `${field} ${message}`).join("; ")}.`;
  return { code: status.INVALID_ARGUMENT, reason: "INVALID_FIELD", text, advice: undefined };
}

/** Makes the reader from the contract's own ErrorInfo, and the remedies of its reasons. */
export function refusalReader(registry: FileRegistry): (status: RpcStatus) => Refusal {
  const errorInfo: DescMessage = messageOf(registry, "google.rpc.ErrorInfo");
  const remedy = extensionOf(registry, "kesc.v1.remedy");
  const remedies = new Map(
    registry
      .getEnum("kesc.v1.ErrorReason")
      ?.values.map((value) => [value.name.slice("ERROR_REASON_".length), getOption(value, remedy) as string]),
  );
  return ({ code, message, details }) => {
    const detail = details.find(({ typeUrl }) => typeUrl.endsWith(`/${errorInfo.typeName}`));
    const reason = detail && (fromBinary(errorInfo, detail.value) as unknown as ErrorInfo).reason;
    const advice = remedies.get(reason ?? "");
    return {
      code,
      reason,
      text: reason === undefined ? (UNREACHABLE[code] ?? "The server gave no response.") : message,
      advice: advice === "" ? undefined : advice,
    };
  };
}
