import type { Message } from "@bufbuild/protobuf";

/** What the message holds under that name: of a field, or of a oneof, as its `localName` says. */
export function valueOf(message: Message, { localName }: { readonly localName: string }): unknown {
  return (message as Message & Record<string, unknown>)[localName];
}
