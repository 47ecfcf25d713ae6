import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

/** Which fields JSON shows as numbers although their types would make them strings. */
export interface NumberFields {
  /** Whether a string field holds a decimal number. */
  readonly isDecimal: (field: DescField) => boolean;
  /** Whether a field of 64 bits stays from 0 to 2^53 − 1. */
  readonly isNumber: (field: DescField) => boolean;
}

export const TIMESTAMP = "google.protobuf.Timestamp";
/** Only in responses: the reason for which one item of a batch was refused. */
export const RPC_STATUS = "google.rpc.Status";

/** A body as it comes, of any type. Only a whole HTTP body can have this type. */
const HTTP_BODY = "google.api.HttpBody";

const MAPPED_IN_REQUESTS: ReadonlySet<string> = new Set([TIMESTAMP]);
const MAPPED_IN_RESPONSES: ReadonlySet<string> = new Set([TIMESTAMP, RPC_STATUS]);

/**
 * Throws when a message inside the message is a well-known type that the gateway does not map. The
 * JSON of those types differs from their fields: the gateway would write wrong JSON, and nobody
 * would notice. The field `except` is not JSON.
 */
export function assertJsonMappable(
  desc: DescMessage,
  { direction, except }: { direction: "request" | "response"; except: DescField | undefined },
): void {
  const mapped = direction === "request" ? MAPPED_IN_REQUESTS : MAPPED_IN_RESPONSES;
  for (const field of desc.fields) {
    if (field !== except && field.message !== undefined) assertMappable(field.message, mapped, new Set([desc]));
  }
}

/** Whether the field holds an HTTP body as it comes. */
export function isHttpBody(field: DescField | undefined): boolean {
  return field?.fieldKind === "message" && field.message.typeName === HTTP_BODY;
}

const UNMAPPED: ReadonlySet<string> = new Set([RPC_STATUS, HTTP_BODY]);

function assertMappable(desc: DescMessage, mapped: ReadonlySet<string>, seen: Set<DescMessage>): void {
  if (seen.has(desc) || mapped.has(desc.typeName)) return;
  seen.add(desc);
  if (desc.typeName.startsWith("google.protobuf.") || UNMAPPED.has(desc.typeName)) {
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
