import type { Job } from "./job.js";
import { BLANK_REFERENCE, findSerials, referenceOf, writeSerial } from "./reference.js";
import type { CallInFlight } from "./tally.js";

const PATH = "/transactions/mint";

/** A mint's POST as bytes; only the serial number changes from call to call. */
export class RestRequest {
  readonly #bytes: Buffer;
  readonly #serialsAt: readonly number[];

  constructor(options: { authority: string; apiKey: string; accountId: string; amount: string; keyed: boolean }) {
    const { authority, apiKey, accountId, amount, keyed } = options;
    const body = `{"account_id":"${accountId}","amount":${amount},"reference":"${BLANK_REFERENCE}"}`;
    const head = [
      `POST ${PATH} HTTP/1.1`,
      `host: ${authority}`,
      `x-api-key: ${apiKey}`,
      ...(keyed ? [`idempotency-key: ${BLANK_REFERENCE}`] : []),
      "content-type: application/json",
      `content-length: ${String(Buffer.byteLength(body))}`,
    ];
    this.#bytes = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
    this.#serialsAt = findSerials(this.#bytes);
  }

  /** The request with this serial number; the same memory each time, valid until the next call. */
  bytes(serial: number): Buffer {
    for (const at of this.#serialsAt) writeSerial(this.#bytes, at, serial);
    return this.#bytes;
  }
}

/**
 * Says what is wrong with the answer to a mint, or undefined when it is 201 and names what was
 * sent.
 */
export function problemInMint(job: Job, call: CallInFlight, status: number, body: string): string | undefined {
  // The code, where there is one: the whole problem differs from answer to answer.
  if (status !== 201) return `HTTP ${String(status)}: ${/"code":"([A-Z_]+)"/.exec(body)?.[1] ?? body.slice(0, 200)}`;
  const answer: unknown = JSON.parse(body);
  const expected = {
    account_id: job.accountIds[call.account],
    type: "mint",
    status: "completed",
    amount: Number(job.amount),
    reference: referenceOf(call.serial),
  };
  for (const [field, value] of Object.entries(expected)) {
    if (fieldOf(answer, field) !== value) return `a mint's answer with the wrong ${field}`;
  }
  return undefined;
}

function fieldOf(answer: unknown, field: string): unknown {
  return typeof answer === "object" && answer !== null ? (Reflect.get(answer, field) as unknown) : undefined;
}
