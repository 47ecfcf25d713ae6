import type { ServerResponse } from "node:http";

import type { Message } from "@bufbuild/protobuf";

import { valueOf } from "../../contract/json-support.js";
import type { StreamRule } from "../../contract/stream-rule.js";
import type { StreamForm } from "../forms/stream-form.js";
import { contextOf } from "../http/request-context.js";
import { type Problem, problemJson } from "../problems/problem.js";
import type { StreamStep } from "../upstream/streams.js";

// Proxies cut a connection that is silent for a minute, some after 30 seconds.
const HEARTBEAT_MILLIS = 15_000;
// The items that are written without a look at other callers and at the client's pace.
const ITEMS_OF_TURN_MAX = 64;

/** Writes one stream into the body of its response, as fast as the client reads. */
export class StreamBody {
  readonly #res: ServerResponse;
  readonly #rule: StreamRule;
  readonly #form: StreamForm;
  readonly #heartbeat: NodeJS.Timeout | undefined;

  /** The head of the response must have been sent. */
  constructor(res: ServerResponse, rule: StreamRule, form: StreamForm) {
    this.#res = res;
    this.#rule = rule;
    this.#form = form;
    contextOf(res).items = 0;
    if (form.heartbeat === undefined) return;
    this.#heartbeat = setInterval(() => {
      // A client that does not read has bytes to read already.
      if (!res.writableNeedDrain && !res.writableEnded) res.write(form.heartbeat?.() ?? "");
    }, HEARTBEAT_MILLIS);
    contextOf(res).onClosed.push(() => {
      clearInterval(this.#heartbeat);
    });
  }

  /** Writes the message. Resolves when the client has room for the next one, or has gone. */
  async write({ message, bytes }: Extract<StreamStep, { kind: "message" }>): Promise<void> {
    const items = valueOf(message, this.#rule.list) as readonly Message[];
    const context = contextOf(this.#res);
    const bytesOfItem = bytes / Math.max(1, items.length);
    for (let from = 0; from < items.length && this.isOpen(); from += ITEMS_OF_TURN_MAX) {
      const part = items.slice(from, from + ITEMS_OF_TURN_MAX);
      await context.turnFor(part.length * bytesOfItem);
      await this.#send(this.#form.items(part));
      context.items = (context.items ?? 0) + part.length;
    }
    await this.#send(this.#form.endOfMessage(message));
  }

  begin(): Promise<void> {
    return this.#send(this.#form.begin());
  }

  /** Whether the client is there, and the body has not ended. */
  isOpen(): boolean {
    return !this.#res.destroyed && !this.#res.writableEnded;
  }

  end(): void {
    if (this.isOpen()) this.#res.end(this.#form.end());
  }

  /**
   * Ends the body so that the client sees that something is missing. A body without a form for
   * problems is cut off before the last chunk of HTTP/1.1.
   */
  fail(problem: Problem): void {
    if (!this.isOpen()) return;
    const context = contextOf(this.#res);
    context.code = problem.code;
    context.cutOff = { status: problem.status, code: problem.code };
    if (this.#form.problem === undefined) this.#res.destroy();
    else this.#res.end(this.#form.problem(problemJson(problem, context.requestId, context.publicUrl)));
  }

  /** Ends the body because the gateway stops. Does not wait for a client that does not read. */
  stop(): void {
    if (this.#res.writableNeedDrain) this.#res.destroy();
    else this.end();
  }

  async #send(text: string): Promise<void> {
    const res = this.#res;
    if (text === "" || !this.isOpen()) return;
    this.#heartbeat?.refresh();
    if (res.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        res.off("drain", done);
        res.off("close", done);
        resolve();
      };
      res.on("drain", done);
      res.on("close", done);
    });
  }
}
