import { setTimeout as sleep } from "node:timers/promises";

import { status as Status } from "@grpc/grpc-js";

import { invocation } from "../../startup/invocation.js";
import type { SessionOptions } from "../call/options.js";
import { CallSession } from "../call/session.js";
import { printJson, printLine } from "../commands/output.js";
import { type EventJson, eventLine } from "./line.js";

const LIST_METHOD = "kesc.v1.EventService/ListEvents";
const WATCH_METHOD = "kesc.v1.EventService/WatchEvents";

const PAUSE_MILLIS = 500;
const PAUSE_MILLIS_MAX = 10_000;

/** The statuses of a stream whose server or connection has gone. A later try may succeed. */
const INTERRUPTED: ReadonlySet<number> = new Set([
  Status.OK,
  Status.CANCELLED,
  Status.UNKNOWN,
  Status.INTERNAL,
  Status.UNAVAILABLE,
]);

export interface TailOptions extends SessionOptions {
  readonly after?: number;
  readonly type?: readonly string[];
  readonly account?: string;
  readonly json?: true;
  readonly forwardTo?: string;
}

interface Watched {
  readonly events: readonly EventJson[];
  readonly next_sequence: number;
}

/** Prints or forwards events until the deadline, or for ever. */
export async function tail(options: TailOptions): Promise<void> {
  const session = new CallSession(options);
  const method = session.contract.method(WATCH_METHOD);
  const filter = { types: options.type ?? [], account_id: options.account ?? "" };
  let position = options.after ?? (await latestSequence(session));
  const { forwardTo } = options;
  const forwarder =
    forwardTo === undefined ? undefined : await (await import("./forward.js")).Forwarder.start(session, forwardTo);
  /** The failures since the last message. Undefined before the first message. */
  let failures: number | undefined;
  const onResponse = async (response: string, bytes: Uint8Array): Promise<void> => {
    const { events, next_sequence: next } = JSON.parse(response) as Watched;
    await forwarder?.forward(bytes);
    for (const event of forwarder === undefined ? events : []) {
      if (options.json === true) printJson(event);
      else printLine(eventLine(event));
    }
    position = next;
    failures = 0;
  };
  for (;;) {
    const request = session.contract.encode(method, JSON.stringify({ after_sequence: position, ...filter }));
    const end = await session.exchange(method, [request], { onResponse });
    const { code } = end.status;
    // The caller has limited the time.
    if (code === Status.DEADLINE_EXCEEDED) return;
    // A first call that fails may have a wrong address.
    if (failures === undefined || !INTERRUPTED.has(code)) return session.refuse(end);
    failures += 1;
    if (failures === 1)
      invocation().stderr.write(`The stream was interrupted. It goes on after event ${String(position)}.\n`);
    await sleep(Math.min(PAUSE_MILLIS * 2 ** failures, PAUSE_MILLIS_MAX) * (0.5 + Math.random() / 2));
  }
}

async function latestSequence(session: CallSession): Promise<number> {
  const method = session.contract.method(LIST_METHOD);
  const text = await session.unary(method, session.contract.encode(method, JSON.stringify({ page_size: 1 })));
  return (JSON.parse(text) as { readonly latest_sequence: number }).latest_sequence;
}
