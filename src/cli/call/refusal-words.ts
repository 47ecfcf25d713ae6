import { status as Status } from "@grpc/grpc-js";

import type { CalledMessages } from "./contract.js";
import type { CallEnd } from "./invoke.js";

/** Without a reason of the server, a call that ended so may still have had its effect. */
export const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set([
  Status.UNAVAILABLE,
  Status.DEADLINE_EXCEEDED,
  Status.CANCELLED,
]);

/** Returns lines for a call that was refused or failed, with all details of the error. */
export function refusalWords(contract: CalledMessages, { status, requestId }: CallEnd, address: string): string {
  const { info, text, errors, retryAfterSeconds } = contract.refusalIn(status);
  const lines = [
    `${[Status[status.code], ...(info === undefined ? [] : [info.reason])].join(", ")}: ${sentence(text)}`,
    ...[...(info?.facts ?? [])].map(([name, value]) => `  ${name}: ${value}`),
    ...errors.map(({ field, message }) => `  ${field} ${message}`),
  ];
  if (info === undefined && status.code === Status.UNAVAILABLE) {
    lines.push(`The server at ${address} cannot be reached, or it closed the connection.`);
  }
  if (info === undefined && UNKNOWN_OUTCOME.has(status.code)) {
    lines.push(
      "A call that writes may have had its effect. To find out, send the same call again with the same reference.",
    );
  }
  if (status.code === Status.UNAUTHENTICATED) {
    lines.push("Set KESC_API_KEY to an API key, or name a file that holds one with --key-file.");
  }
  if (retryAfterSeconds !== undefined) lines.push(`Wait ${String(retryAfterSeconds)} s before you call again.`);
  if (requestId !== undefined) lines.push(`Request id: ${requestId}`);
  return lines.join("\n");
}

/** Adds the period that the errors of grpc-js lack, and removes a note that grpc-js left empty. */
function sentence(text: string): string {
  const whole = text.replace(/\.? Resolution note: $/, "");
  return whole.endsWith(".") ? whole : `${whole}.`;
}
