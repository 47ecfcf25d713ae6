import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

import type { DescMethod } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";

import { toRpc } from "../../../contract/rpc.js";
import { apiKeyFromEnvironment, apiKeyIn } from "../../startup/environment.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { apiServer, type CalledServer } from "../connection.js";
import { CallableContract } from "./contract.js";
import { type CallEnd, invoke } from "./invoke.js";
import type { SessionOptions } from "./options.js";
import { refusalWords } from "./refusal-words.js";

const UNARY_MILLIS_MAX = 30_000;

interface ExchangeOptions {
  readonly idempotencyKey?: string | undefined;
  /** Takes a response as JSON on one line, and as it came. The next one waits for it. */
  readonly onResponse: (response: string, bytes: Uint8Array) => Promise<void> | void;
}

/** The calls of one command to one server. */
export class CallSession {
  readonly contract = new CallableContract();
  readonly #server: CalledServer;
  readonly #key: string | undefined;
  readonly #deadlineMillis: number | undefined;

  /** Throws an OperatorError if the key file, the environment or the address is unusable. */
  constructor({ address, keyFile, deadline }: SessionOptions) {
    this.#server = apiServer(address);
    this.#key = keyFile === undefined ? apiKeyFromEnvironment() : keyInFile(keyFile);
    this.#deadlineMillis = deadline;
  }

  /**
   * Makes one call. Throws an OperatorError with all details of the error if the server refuses it.
   */
  async call(
    method: DescMethod,
    requests: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: ExchangeOptions,
  ): Promise<CallEnd> {
    const end = await this.exchange(method, requests, options);
    return end.status.code === Status.OK ? end : this.refuse(end);
  }

  /** Returns 32 bytes, the same for each session with this API key. They do not tell the key. */
  secretFor(purpose: string): Buffer {
    return createHmac("sha256", this.#key ?? "")
      .update(purpose)
      .digest();
  }

  /** Throws an OperatorError with all details of how a call ended. */
  refuse(end: CallEnd): never {
    throw new OperatorError(refusalWords(this.contract, end, this.#server.address));
  }

  /** Makes one call, and returns how it ended. */
  async exchange(
    method: DescMethod,
    requests: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { idempotencyKey, onResponse }: ExchangeOptions,
  ): Promise<CallEnd> {
    const headers = { "x-api-key": this.#key, "idempotency-key": idempotencyKey };
    const deadlineMillis = this.#deadlineMillis ?? (method.methodKind === "unary" ? UNARY_MILLIS_MAX : undefined);
    const client = this.#server.connect();
    try {
      const responses = invoke(client, { path: toRpc(method).path, headers, deadlineMillis }, requests);
      for (;;) {
        const next = await responses.next();
        if (next.done === true) return next.value;
        await onResponse(this.contract.writeResponse(method, next.value), next.value);
      }
    } finally {
      client.close();
    }
  }

  /** Makes one unary call. Returns its response as JSON on one line. */
  async unary(method: DescMethod, request: Uint8Array): Promise<string> {
    let text = "";
    await this.call(method, [request], {
      onResponse: (response) => {
        text = response;
      },
    });
    return text;
  }
}

function keyInFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`The key file cannot be read: ${(error as Error).message}.`, { cause: error });
  }
  const key = apiKeyIn(text, `The key file ${file}`);
  if (key === undefined) throw new UsageError(`The key file ${file} is empty.`);
  return key;
}
