import type { DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * Throws unless the bytes are complete records of the protobuf wire format, including nested
 * messages.
 *
 * The generated decoders do not check that. They stop without an error at an invalid record, skip
 * the remaining bytes, and read past the end of a nested message. They would accept half of a
 * damaged request as a complete one.
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
  /** Undefined for the entry of a map, because our maps have scalar keys and values. */
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

// All messages share one writer, because it keeps its buffer. A new writer would grow a new buffer
// for each message.
let writer = new BinaryWriter();

/** Encodes a message. Throws if the message has a value of a wrong type. */
export function encode<Message>(
  codec: { encode(message: Message, writer?: BinaryWriter): BinaryWriter },
  message: Message,
): Buffer {
  try {
    const bytes = codec.encode(message, writer).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    // The writer holds half of a message now, so discard it.
    writer = new BinaryWriter();
    throw error;
  }
}
