import type { DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/**
 * Throws unless the bytes are whole records of protobuf's wire format, in the messages within them
 * too.
 *
 * The generated decoders stop in silence at what can't be a record, leave the rest unread, and read
 * on behind the end of a message within another: half of a damaged call would be taken for all of
 * it.
 */
export function checkWireFormat(desc: DescMessage | undefined, bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [fieldNumber, wireType] = reader.tag();
    const field = wireType === WireType.LengthDelimited ? messageField(desc, fieldNumber) : undefined;
    if (field === undefined) reader.skip(wireType, fieldNumber);
    else checkWireFormat(field.desc, reader.bytes());
  }
}

interface MessageField {
  /** Undefined for the entry of a map, whose key and value are scalars here. */
  readonly desc: DescMessage | undefined;
}

const messageFieldsOf = new WeakMap<DescMessage, ReadonlyMap<number, MessageField>>();

function messageField(desc: DescMessage | undefined, fieldNumber: number): MessageField | undefined {
  if (desc === undefined) return undefined;
  let fields = messageFieldsOf.get(desc);
  if (fields === undefined) {
    const messages = desc.fields.filter((field) => field.fieldKind === "map" || field.message !== undefined);
    fields = new Map(messages.map((field) => [field.number, { desc: field.message }]));
    messageFieldsOf.set(desc, fields);
  }
  return fields.get(fieldNumber);
}
