import type { DescMessage } from "@bufbuild/protobuf";

export const TIMESTAMP = "google.protobuf.Timestamp";

/**
 * Throws when a message, or one inside it, is of a well-known type whose JSON differs from its fields. Timestamp is the
 * only one of them that the gateway maps; another would come out wrong without anybody noticing.
 */
export function refuseUnmappable(desc: DescMessage, seen = new Set<DescMessage>()): void {
  if (seen.has(desc) || desc.typeName === TIMESTAMP) return;
  seen.add(desc);
  if (desc.typeName.startsWith("google.protobuf.")) throw new Error(`the gateway cannot map ${desc.typeName} to JSON`);
  for (const field of desc.fields) {
    if (field.message !== undefined) refuseUnmappable(field.message, seen);
  }
}
