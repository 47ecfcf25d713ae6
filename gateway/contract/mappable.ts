import type { DescMessage } from "@bufbuild/protobuf";

export const TIMESTAMP = "google.protobuf.Timestamp";
/** In an answer: why a part of it was refused. */
export const RPC_STATUS = "google.rpc.Status";

const IN_REQUESTS: ReadonlySet<string> = new Set([TIMESTAMP]);
const IN_ANSWERS: ReadonlySet<string> = new Set([TIMESTAMP, RPC_STATUS]);

/**
 * Throws when a message, or one inside it, is of a well-known type whose JSON differs from its
 * fields. Timestamp is the only one of them that the gateway maps both ways; another would come out
 * wrong without anybody noticing.
 */
export function refuseUnmappable(desc: DescMessage, direction: "request" | "answer"): void {
  refuse(desc, direction === "request" ? IN_REQUESTS : IN_ANSWERS, new Set());
}

function refuse(desc: DescMessage, mapped: ReadonlySet<string>, seen: Set<DescMessage>): void {
  if (seen.has(desc) || mapped.has(desc.typeName)) return;
  seen.add(desc);
  if (desc.typeName.startsWith("google.protobuf.") || desc.typeName === RPC_STATUS) {
    throw new Error(`the gateway cannot map ${desc.typeName} to JSON`);
  }
  for (const field of desc.fields) {
    if (field.message !== undefined) refuse(field.message, mapped, seen);
  }
}
