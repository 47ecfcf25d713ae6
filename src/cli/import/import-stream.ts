import { Client, type ClientDuplexStream, credentials, Metadata, status as Status } from "@grpc/grpc-js";

import { ErrorInfo } from "../../gen/google/rpc/error_details.js";
import type { Status as StatusMessage } from "../../gen/google/rpc/status.js";
import { type ImportTransactionsResponse, TransactionServiceService } from "../../gen/kesc/v1/transaction_service.js";

export function connectTo(address: string): Client {
  return new Client(address, credentials.createInsecure(), {
    // One that comes back is found again within a second; the default waits up to two minutes.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
}

/**
 * A call of ImportTransactions: takes messages that are encoded already, gives one answer for each.
 */
export class ImportStream {
  readonly #call: ClientDuplexStream<Buffer, ImportTransactionsResponse>;
  readonly #answers: AsyncIterator<ImportTransactionsResponse>;
  #failure = new Error("the server ended the stream of its own accord");

  constructor(client: Client, key: string) {
    const { path, responseDeserialize } = TransactionServiceService.importTransactions;
    const metadata = new Metadata();
    metadata.set("x-api-key", key);
    this.#call = client.makeBidiStreamRequest(path, (bytes: Buffer) => bytes, responseDeserialize, metadata);
    // It may come before anybody waits for an answer.
    this.#call.on("error", (error) => {
      this.#failure = error;
    });
    this.#answers = this.#call[Symbol.asyncIterator]() as AsyncIterator<ImportTransactionsResponse>;
  }

  send(bytes: Buffer): void {
    this.#call.write(bytes);
  }

  /** The next answer. Throws what the stream has ended with. */
  async next(): Promise<ImportTransactionsResponse> {
    const answer = await this.#answers.next();
    if (answer.done === true) throw this.#failure;
    return answer.value;
  }

  /**
   * When every message has its answer: lets the server end the stream in peace, whatever it ends it
   * with.
   */
  async end(): Promise<void> {
    this.#call.end();
    await this.#answers.next().catch(() => undefined);
  }

  cancel(): void {
    this.#call.cancel();
  }
}

// What passes by itself: a queue that is full, a server that is away or stops, a connection that is
// lost.
const PASSING: ReadonlySet<number> = new Set([
  Status.UNAVAILABLE,
  Status.RESOURCE_EXHAUSTED,
  Status.DEADLINE_EXCEEDED,
  Status.CANCELLED,
  Status.INTERNAL,
]);

const BUG: number = Status.INTERNAL;

/** Whether the end of a stream is no reason to give up. */
export function isPassing(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "number" && PASSING.has(error.code);
}

/** Whether a request that was refused so may be done when it is sent again as it is. */
export function mayBeDoneLater({ code }: StatusMessage): boolean {
  // A bug will be there again, and is named with its request id.
  return code !== BUG && PASSING.has(code);
}

/** Returns the reason and the message of a refusal. */
export function describeRefusal({ message, details }: StatusMessage): string {
  const encoded = details.find(({ type_url }) => type_url.endsWith("/google.rpc.ErrorInfo"))?.value;
  return encoded === undefined ? message : `${ErrorInfo.decode(encoded).reason}: ${message}`;
}
