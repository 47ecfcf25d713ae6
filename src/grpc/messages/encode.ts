import { BinaryWriter } from "@bufbuild/protobuf/wire";

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
