import { connect } from "node:net";

import { referenceOf, wrongField } from "./calls.js";
import type { CallName, Job } from "./job.js";
import type { CallInFlight, Tally } from "./tally.js";

/** What a service takes and gives for one call. */
export interface RestCall {
  readonly pathOf: (job: Job, call: CallInFlight) => string;
  /** `connection` counts from zero. Undefined: the call is a GET. */
  readonly bodyOf?: (job: Job, call: CallInFlight, connection: number) => string;
  /** Returns the cause why an answer is wrong, or undefined. */
  readonly problemIn: (job: Job, call: CallInFlight, answer: HttpAnswer) => string | undefined;
}

const CALLS: Readonly<Partial<Record<CallName, RestCall>>> = {
  mint: { pathOf: () => "/transactions/mint", bodyOf, problemIn: problemInMint },
  getAccount: {
    pathOf: ({ accountIds }, { account }) => `/accounts/${accountIds[account] ?? ""}`,
    problemIn: problemInAccount,
  },
};

/** Mints or reads: see `driveConnections`. */
export function driveRest(job: Job, tally: Tally): Promise<void> {
  const of = CALLS[job.call];
  if (of === undefined) throw new Error(`no call ${job.call} over REST`);
  return driveConnections(job, tally, of);
}

/**
 * Keeps one call in flight on each of the job's keep-alive connections while the tally is open.
 * Resolves when the tally is closed and the last call is settled. Books failures, never throws.
 *
 * Requests and answers are texts on plain sockets: bench/README.md shows the cost of the clients
 * that were tried.
 */
export async function driveConnections(job: Job, tally: Tally, of: RestCall): Promise<void> {
  const connections = Array.from({ length: job.connections }, (_, index) => index);
  await Promise.all(connections.map((index) => driveConnection(job, tally, { ...of, index })));
}

function driveConnection(job: Job, tally: Tally, of: RestCall & { readonly index: number }): Promise<void> {
  const { hostname, port } = new URL(`http://${job.addresses[0]}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let call: CallInFlight | undefined;
    let received = "";
    const next = (): void => {
      call = tally.open ? tally.next(performance.now()) : undefined;
      if (call === undefined) socket.destroy();
      else
        socket.write(requestOf(job, of.pathOf(job, call), { call, body: of.bodyOf?.(job, call, of.index) }), "latin1");
    };
    const fail = (problem: string): void => {
      if (call !== undefined) tally.blame(problem, 1);
      call = undefined;
      socket.destroy();
    };
    socket.on("connect", next);
    socket.on("data", (chunk) => {
      // One byte is one character here, so that lengths in characters are lengths in bytes.
      received += chunk.toString("latin1");
      try {
        const answer = answerIn(received);
        if (answer === undefined || call === undefined) return;
        received = "";
        tally.settle(call, performance.now(), of.problemIn(job, call, answer));
        next();
      } catch (error) {
        fail(`an unreadable answer: ${String(error)}`);
      }
    });
    socket.on("error", (error) => {
      fail(error.message);
    });
    socket.on("close", () => {
      fail("the server closed the connection");
      resolve();
    });
  });
}

function bodyOf({ accountIds, amount }: Job, { account, serial }: CallInFlight): string {
  return `{"account_id":"${accountIds[account] ?? ""}","amount":${amount},"reference":"${referenceOf(serial)}"}`;
}

function requestOf(
  { addresses, apiKey, keyed }: Job,
  path: string,
  { call, body }: { readonly call: CallInFlight; readonly body: string | undefined },
): string {
  const head = [
    `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1`,
    `host: ${addresses[0]}`,
    `x-api-key: ${apiKey}`,
    ...(keyed === true ? [`idempotency-key: ${referenceOf(call.serial)}`] : []),
    ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${String(body.length)}`]),
  ];
  return `${head.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

export interface HttpAnswer {
  status: number;
  body: string;
}

/** The answer, once it is there as a whole. Throws unless its head has a status and a length. */
function answerIn(received: string): HttpAnswer | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = received.slice(0, headEnd);
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (status === undefined || length === undefined) throw new Error("no status or no Content-Length");
  const body = received.slice(headEnd + 4);
  if (body.length < Number(length)) return undefined;
  if (body.length > Number(length)) throw new Error("more bytes than its Content-Length says");
  return { status: Number(status), body };
}

function problemInMint(job: Job, call: CallInFlight, { status, body }: HttpAnswer): string | undefined {
  if (status !== 201) return httpProblem(status, body);
  return wrongField("a mint's answer", JSON.parse(body), {
    account_id: job.accountIds[call.account],
    type: "mint",
    status: "completed",
    amount: Number(job.amount),
    reference: referenceOf(call.serial),
  });
}

function problemInAccount({ accountIds }: Job, { account }: CallInFlight, answer: HttpAnswer): string | undefined {
  if (answer.status !== 200) return httpProblem(answer.status, answer.body);
  return wrongField("an account's answer", JSON.parse(answer.body), { id: accountIds[account], status: "active" });
}

/** Names the code, where there is one: the whole problem differs from answer to answer. */
function httpProblem(status: number, body: string): string {
  return `HTTP ${String(status)}: ${/"code":"([A-Z_]+)"/.exec(body)?.[1] ?? body.slice(0, 200)}`;
}
