import { type Client, type ClientDuplexStream, Metadata, status as Status } from "@grpc/grpc-js";

import { ErrorInfo } from "../../gen/google/rpc/error_details.js";
import type { Status as StatusMessage } from "../../gen/google/rpc/status.js";
import { type ImportTransactionsResponse, TransactionServiceService } from "../../gen/kesc/v1/transaction_service.js";

/** One call of ImportTransactions. Sends encoded messages, and receives one response for each. */
export class ImportStream {
  readonly #call: ClientDuplexStream<Buffer, ImportTransactionsResponse>;
  readonly #responses: AsyncIterator<ImportTransactionsResponse>;
  #failure = new Error("the server ended the stream early");

  constructor(client: Client, key: string) {
    const { path, responseDeserialize } = TransactionServiceService.importTransactions;
    const metadata = new Metadata();
    metadata.set("x-api-key", key);
    this.#call = client.makeBidiStreamRequest(path, (bytes: Buffer) => bytes, responseDeserialize, metadata);
    // The error may come while no call of next() waits for it.
    this.#call.on("error", (error) => {
      this.#failure = error;
    });
    this.#responses = this.#call[Symbol.asyncIterator]() as AsyncIterator<ImportTransactionsResponse>;
  }

  send(bytes: Buffer): void {
    this.#call.write(bytes);
  }

  /** Returns the next response. Throws the error that ended the stream. */
  async next(): Promise<ImportTransactionsResponse> {
    const response = await this.#responses.next();
    if (response.done === true) throw this.#failure;
    return response.value;
  }

  /** Ends the call once every message has its response. Waits for the status, and ignores it. */
  async end(): Promise<void> {
    this.#call.end();
    await this.#responses.next().catch(() => undefined);
  }

  cancel(): void {
    this.#call.cancel();
  }
}

// Temporary errors: a full queue, a stopping or unreachable server, a lost connection.
const TEMPORARY: ReadonlySet<number> = new Set([
  Status.UNAVAILABLE,
  Status.RESOURCE_EXHAUSTED,
  Status.DEADLINE_EXCEEDED,
  Status.CANCELLED,
  Status.INTERNAL,
]);

const BUG: number = Status.INTERNAL;

/** Returns whether the import should try again after this error of a stream. */
export function isTemporary(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "number" && TEMPORARY.has(error.code);
}

/** Returns whether a refused request may succeed if it is sent again. */
export function mayBeDoneLater({ code }: StatusMessage): boolean {
  // A bug would occur again. The message names its request id.
  return code !== BUG && TEMPORARY.has(code);
}

/** Returns the reason and the message of a refusal. */
export function describeRefusal({ message, details }: StatusMessage): string {
  const encoded = details.find(({ type_url }) => type_url.endsWith("/google.rpc.ErrorInfo"))?.value;
  return encoded === undefined ? message : `${ErrorInfo.decode(encoded).reason}: ${message}`;
}
