import type { Message } from "@bufbuild/protobuf";

/** How one response shows a stream. Its texts, in the order of the calls, are the body. */
export interface StreamForm {
  readonly contentType: string;
  /** The ending of the name of a file; undefined: the body is no file. */
  readonly fileType?: string;
  begin(): string;
  /** Returns the text of items. All items of a message may come in several calls. */
  items(items: readonly Message[]): string;
  /** Follows the last items of each message. */
  endOfMessage(message: Message): string;
  /** Shows that the stream is alive; undefined: the form has no text without a meaning. */
  heartbeat?(): string;
  /** Follows the last message when the stream ends in order. */
  end(): string;
  /** Shows a refusal as an item; undefined: the body must be cut off, so that it looks broken. */
  problem?(json: string): string;
}
