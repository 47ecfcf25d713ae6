import { type AnswerCheck, grpcCallOf } from "./grpc-calls.js";
import { GrpcConnection } from "./grpc-connection.js";
import { GrpcRequest } from "./grpc-request.js";
import type { Job } from "./job.js";
import type { Tally } from "./tally.js";

/**
 * Keeps the job's number of calls in flight for as long as the tally is open. Resolves when it is closed and the last
 * call has been settled; what goes wrong is booked, never thrown.
 */
export async function driveGrpc(job: Job, tally: Tally): Promise<void> {
  const { path, messages, check } = grpcCallOf(job);
  const { address, apiKey } = job;
  const requests = messages.map((message) => new GrpcRequest({ authority: address, path, apiKey, message }));
  const shares = sharesOf(job.inFlight, job.connections);
  await Promise.all(shares.map((share) => driveConnection({ address, check, requests, share, tally })));
}

interface Drive {
  address: string;
  check: AnswerCheck;
  /** One for each account, all of one length. */
  requests: GrpcRequest[];
  /** Calls in flight on this connection. */
  share: number;
  tally: Tally;
}

function driveConnection(drive: Drive): Promise<void> {
  const { address, check, share, tally } = drive;
  return new Promise((resolve) => {
    const end = (): void => {
      connection.close();
      resolve();
    };
    const connection = new GrpcConnection({
      address,
      check,
      onSettled: (call, problem) => {
        tally.settle(call, performance.now(), problem);
      },
      onTurn: () => {
        if (share > connection.streamsMax) {
          tally.blame(`the server takes only ${String(connection.streamsMax)} calls on a connection`, 1);
          end();
          return;
        }
        fill(connection, drive);
        if (!tally.open && connection.inFlight === 0) end();
      },
      onBroken: (problem) => {
        tally.blame(problem, Math.max(1, connection.inFlight));
        resolve();
      },
    });
  });
}

/** Starts calls until the connection has its share in flight, the server has no room for more, or the tally is closed. */
function fill(connection: GrpcConnection, { requests, share, tally }: Drive): void {
  const now = performance.now();
  const dataBytes = requests[0]?.dataBytes ?? 0;
  while (tally.open && connection.inFlight < share && connection.hasRoomFor(dataBytes)) {
    const call = tally.next(now);
    const request = requests[call.account];
    if (request !== undefined) connection.start(call, request);
  }
}

/** Splits `whole` into `parts` numbers that differ by at most one. */
function sharesOf(whole: number, parts: number): number[] {
  return Array.from({ length: parts }, (_, i) => Math.floor((whole + i) / parts));
}
