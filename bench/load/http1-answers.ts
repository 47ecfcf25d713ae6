const END_OF_HEAD = "\r\n\r\n";

/**
 * Cuts what arrives on a connection with one request at a time into answers. Knows bodies with a
 * Content-Length only.
 */
export class Http1Answers {
  readonly #onAnswer: (status: number, body: string) => void;
  #rest = "";

  constructor(onAnswer: (status: number, body: string) => void) {
    this.#onAnswer = onAnswer;
  }

  /** Reads one chunk; answers what is wrong with it, if anything is. */
  read(chunk: Buffer): string | undefined {
    // One byte is one character here, so that lengths in characters are lengths in bytes.
    const received = this.#rest + chunk.toString("latin1");
    const headEnd = received.indexOf(END_OF_HEAD);
    this.#rest = received;
    if (headEnd < 0) return undefined;
    const head = received.slice(0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
    if (length === undefined || status === undefined) return "an answer without a status or a Content-Length";
    const bodyStart = headEnd + END_OF_HEAD.length;
    const bodyEnd = bodyStart + Number(length);
    if (received.length < bodyEnd) return undefined;
    this.#rest = received.slice(bodyEnd);
    this.#onAnswer(Number(status), received.slice(bodyStart, bodyEnd));
    return undefined;
  }
}
