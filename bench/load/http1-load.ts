import { connect, type Socket } from "node:net";

import { Http1Answers } from "./http1-answers.js";
import type { Job } from "./job.js";
import { problemInMint, RestRequest } from "./rest-request.js";
import type { CallInFlight, Tally } from "./tally.js";

/**
 * Keeps one mint in flight on each of the job's keep-alive connections for as long as the tally is
 * open. Resolves when it is closed and the last call has been settled; what goes wrong is booked,
 * never thrown.
 */
export async function driveHttp1(job: Job, tally: Tally): Promise<void> {
  const { addresses, apiKey, amount, keyed = false } = job;
  const [address] = addresses;
  const requests = job.accountIds.map(
    (accountId) => new RestRequest({ authority: address, apiKey, accountId, amount, keyed }),
  );
  await Promise.all(Array.from({ length: job.connections }, () => driveConnection(job, { address, requests, tally })));
}

function driveConnection(
  job: Job,
  { address, requests, tally }: { address: string; requests: RestRequest[]; tally: Tally },
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectTo(address);
    let call: CallInFlight | undefined;
    const sendNext = (): void => {
      if (!tally.open) return void socket.destroy();
      call = tally.next(performance.now());
      // The copy is what lets several sockets share one prepared request.
      socket.write(Buffer.from(requests[call.account]?.bytes(call.serial) ?? []));
    };
    const answers = new Http1Answers((status, body) => {
      if (call === undefined) return;
      tally.settle(call, performance.now(), problemInMint(job, call, status, body));
      call = undefined;
      sendNext();
    });
    const fail = (problem: string): void => {
      if (call !== undefined) tally.blame(problem, 1);
      call = undefined;
      socket.destroy();
    };
    socket.on("connect", sendNext);
    socket.on("data", (chunk) => {
      try {
        const problem = answers.read(chunk);
        if (problem !== undefined) fail(problem);
      } catch (error) {
        fail(`an unreadable answer: ${String(error)}`);
      }
    });
    socket.on("error", (error) => {
      tally.blame(error.message, 1);
      call = undefined;
    });
    socket.on("close", () => {
      fail("the server closed the connection");
      resolve();
    });
  });
}

function connectTo(address: string): Socket {
  const { hostname, port } = new URL(`http://${address}`);
  return connect({ host: hostname, port: Number(port), noDelay: true });
}
