import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";

import type { DescMethod } from "@bufbuild/protobuf";
import { parse, stringify } from "lossless-json";

import { invocation } from "../../startup/invocation.js";
import { UsageError } from "../../startup/operator-error.js";
import { printLine } from "../commands/output.js";
import { CallableContract } from "./contract.js";
import type { SessionOptions } from "./options.js";
import { CallSession } from "./session.js";

export interface CallMethodOptions extends SessionOptions {
  readonly idempotencyKey?: string;
  readonly json?: true;
}

/** Makes the call and prints each response. Without a name it lists all methods. */
export async function callMethod(
  name: string | undefined,
  request: string | undefined,
  options: CallMethodOptions,
): Promise<void> {
  if (name === undefined) {
    for (const known of new CallableContract().methodNames) printLine(known);
    return;
  }
  const session = new CallSession(options);
  const { contract } = session;
  const method = contract.method(name);
  const isOnLines = options.json === true || method.methodKind === "server_streaming";
  try {
    const { replayed } = await session.call(method, requestsOf(contract, method, request ?? "{}"), {
      idempotencyKey: options.idempotencyKey,
      onResponse: (line) => {
        printLine(isOnLines ? line : indented(line));
      },
    });
    if (replayed) invocation().stderr.write("This is a replay: an earlier call had the effect.\n");
  } finally {
    // A stream may end before its input does. An open input would keep the process alive.
    invocation().stdin.destroy();
  }
}

async function* requestsOf(contract: CallableContract, method: DescMethod, request: string): AsyncGenerator<Buffer> {
  const isStream = method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming";
  if (isStream && request === "-") {
    for await (const line of createInterface({ input: invocation().stdin })) {
      if (line.trim() !== "") yield contract.encode(method, line);
    }
    return;
  }
  const text = await requestText(request);
  const requests = isStream ? text.split("\n").filter((line) => line.trim() !== "") : [text];
  for (const each of requests) yield contract.encode(method, each);
}

async function requestText(request: string): Promise<string> {
  if (request === "-") return readAll(invocation().stdin);
  if (!request.startsWith("@")) return request;
  try {
    return readFileSync(request.slice(1), "utf8");
  } catch (error) {
    throw new UsageError(`The request cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}

/** Writes the JSON for people. Keeps the digits of every number. */
function indented(json: string): string {
  return stringify(parse(json), undefined, 2) ?? json;
}
