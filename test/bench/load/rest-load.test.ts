import { createServer, type Server, type Socket } from "node:net";

import { expect } from "chai";

import type { Job, LoadResult } from "../../../bench/load/job.js";
import { driveRest } from "../../../bench/load/rest-load.js";
import { Tally } from "../../../bench/load/tally.js";

const CALLS = 20;

/** The answer to a request as the gateway sends it. */
function created(request: string, changed: object = {}): string {
  const { account_id, amount, reference } = JSON.parse(request.slice(request.indexOf("{"))) as Record<string, unknown>;
  const body = JSON.stringify({ account_id, amount, reference, type: "mint", status: "completed", ...changed });
  return `HTTP/1.1 201 Created\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;
}

describe("the REST load", () => {
  let server: Server;
  afterEach(() => {
    server.close();
  });

  /** Sends CALLS mints over two connections to a server that answers with `answer`. */
  async function load(answer: (request: string, socket: Socket) => void): Promise<LoadResult> {
    server = createServer((socket) => {
      socket.on("data", (chunk) => {
        answer(chunk.toString(), socket);
      });
    });
    const port = await new Promise<number>((resolve) => {
      server.listen(0, "127.0.0.1", () => {
        resolve((server.address() as { port: number }).port);
      });
    });
    const calls = { transport: "rest", call: "mint", connections: 2, inFlight: 2, callsMax: CALLS } as const;
    const mint = { apiKey: "key", accountIds: ["acc_a", "acc_b"], amount: "1250.00", firstSerial: 1 };
    const job: Job = { ...calls, ...mint, addresses: [`127.0.0.1:${String(port)}`], rampSeconds: 0, seconds: 60 };
    const tally = new Tally(job);
    tally.openWindow();
    await driveRest(job, tally);
    tally.closeWindow();
    return tally.result();
  }

  it("counts right answers, wherever their bytes are cut", async () => {
    const result = await load((request, socket) => {
      const answer = created(request);
      const cut = Number(/\d+(?="})/.exec(request)?.[0]) * 7;
      socket.write(answer.slice(0, cut));
      setImmediate(() => socket.write(answer.slice(cut)));
    });
    expect(result).to.deep.include({ callsInWindow: CALLS, acknowledged: [10, 10], problems: {} });
  });

  for (const [what, answer, problem] of [
    ["another amount", (request: string) => created(request, { amount: 1 }), "a mint's answer with the wrong amount"],
    [
      "a refusal",
      () => 'HTTP/1.1 429 Too Many Requests\r\nContent-Length: 21\r\n\r\n{"code":"QUEUE_FULL"}',
      "HTTP 429: QUEUE_FULL",
    ],
  ] as const) {
    it(`does not count ${what}`, async () => {
      const result = await load((request, socket) => socket.write(answer(request)));
      expect(result).to.deep.include({ callsInWindow: 0, problems: { [problem]: CALLS } });
    });
  }

  it("gives a connection up whose answer has no length", async () => {
    const result = await load((_, socket) => socket.write("HTTP/1.1 201 Created\r\n\r\n{}"));
    expect(result.problems).to.deep.equal({ "an unreadable answer: Error: no status or no Content-Length": 2 });
  });
});
