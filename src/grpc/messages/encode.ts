import { BinaryWriter } from "@bufbuild/protobuf/wire";

// One for all messages: it keeps its buffer, which a writer a message would have to grow from
// nothing each time.
let writer = new BinaryWriter();

/** Encodes a message. Throws when it is not one. */
export function encode<Message>(
  codec: { encode(message: Message, writer?: BinaryWriter): BinaryWriter },
  message: Message,
): Buffer {
  try {
    const bytes = codec.encode(message, writer).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    // It holds half a message.
    writer = new BinaryWriter();
    throw error;
  }
}
