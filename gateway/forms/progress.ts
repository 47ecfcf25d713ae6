import type { Message } from "@bufbuild/protobuf";

import { valueOf } from "../../contract/json-support.js";
import type { Resumption } from "../../contract/stream-rule.js";

/** How far one endless stream has come for its client. */
export class Progress {
  readonly #resumption: Resumption;
  /** The sequence after which the client would go on; undefined until it has read one. */
  #position: bigint | undefined;

  constructor(resumption: Resumption) {
    this.#resumption = resumption;
  }

  get position(): bigint | undefined {
    return this.#position;
  }

  /** Returns where the item stands, and goes on to it. */
  pass(item: Message): bigint {
    const sequence = valueOf(item, this.#resumption.sequence) as bigint;
    this.#position = sequence;
    return sequence;
  }

  /** Goes on to the end of the message. Returns whether that is beyond its last item. */
  passEndOf(message: Message): boolean {
    const next = valueOf(message, this.#resumption.next) as bigint;
    if (this.#position !== undefined && next <= this.#position) return false;
    this.#position = next;
    return true;
  }
}
