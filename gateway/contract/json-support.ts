import type { DescMessage, Message } from "@bufbuild/protobuf";

export const TIMESTAMP = "google.protobuf.Timestamp";
/** Only in responses: the reason for which one item of a batch was refused. */
export const RPC_STATUS = "google.rpc.Status";

const MAPPED_IN_REQUESTS: ReadonlySet<string> = new Set([TIMESTAMP]);
const MAPPED_IN_RESPONSES: ReadonlySet<string> = new Set([TIMESTAMP, RPC_STATUS]);

/**
 * Throws when the message, or a message inside it, is a well-known type that the gateway does not
 * map. The JSON of those types differs from their fields: the gateway would write wrong JSON, and
 * nobody would notice.
 */
export function assertJsonMappable(desc: DescMessage, direction: "request" | "response"): void {
  assertMappable(desc, direction === "request" ? MAPPED_IN_REQUESTS : MAPPED_IN_RESPONSES, new Set());
}

function assertMappable(desc: DescMessage, mapped: ReadonlySet<string>, seen: Set<DescMessage>): void {
  if (seen.has(desc) || mapped.has(desc.typeName)) return;
  seen.add(desc);
  if (desc.typeName.startsWith("google.protobuf.") || desc.typeName === RPC_STATUS) {
    throw new Error(`the gateway cannot map ${desc.typeName} to JSON`);
  }
  for (const field of desc.fields) {
    if (field.message !== undefined) assertMappable(field.message, mapped, seen);
  }
}

/**
 * Returns the value of a field or a oneof. Both are properties of the message under `localName`.
 */
export function valueOf(message: Message, { localName }: { readonly localName: string }): unknown {
  return (message as Message & Record<string, unknown>)[localName];
}
