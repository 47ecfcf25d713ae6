import { type AnswerCheck, grpcCallOf } from "./grpc-calls.js";
import { GrpcConnection } from "./grpc-connection.js";
import { GrpcRequest } from "./grpc-request.js";
import type { Job } from "./job.js";
import { Pace } from "./pace.js";
import type { Tally } from "./tally.js";

const PACE_MILLIS = 1;

/**
 * Keeps the job's number of calls in flight, or starts calls at its rate, for as long as the tally
 * is open. Resolves when it is closed and the last call has been settled; what goes wrong is
 * booked, never thrown.
 */
export async function driveGrpc(job: Job, tally: Tally): Promise<void> {
  const { addresses, apiKey, apiKeys = [], connections, ratePerSecond } = job;
  const { path, messages, check } = grpcCallOf(job);
  const requestsTo = (address: string): GrpcRequest[] =>
    messages.map((message, i) => new GrpcRequest({ authority: address, path, apiKey: apiKeys[i] ?? apiKey, message }));
  const requests = new Map(addresses.map((address) => [address, requestsTo(address)]));
  const shares = sharesOf(job.inFlight, connections);
  await Promise.all(
    shares.map((share, i) => {
      const address = addresses[i % addresses.length] ?? addresses[0];
      const pace = ratePerSecond === undefined ? undefined : new Pace(ratePerSecond / connections, performance.now());
      return driveConnection({ address, check, requests: requests.get(address) ?? [], share, pace, tally });
    }),
  );
}

interface Drive {
  address: string;
  check: AnswerCheck;
  /** One for each account, all of one length. */
  requests: GrpcRequest[];
  /** Calls in flight on this connection. */
  share: number;
  pace: Pace | undefined;
  tally: Tally;
}

function driveConnection(drive: Drive): Promise<void> {
  const { address, check, share, pace, tally } = drive;
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearInterval(timer);
      connection.close();
      resolve();
    };
    const turn = (): void => {
      fill(connection, drive);
      connection.flush();
      if (!tally.open && connection.inFlight === 0) end();
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
        // An answer may come much later than the next call is due.
        if (pace !== undefined) timer ??= setInterval(turn, PACE_MILLIS);
        turn();
      },
      onBroken: (problem) => {
        tally.blame(problem, Math.max(1, connection.inFlight));
        clearInterval(timer);
        resolve();
      },
    });
  });
}

/**
 * Starts the calls that are due, until the connection has its share in flight or the server has no
 * room for more.
 */
function fill(connection: GrpcConnection, { requests, share, pace, tally }: Drive): void {
  const now = performance.now();
  const dataBytes = requests[0]?.dataBytes ?? 0;
  while (tally.open && connection.inFlight < share && connection.hasRoomFor(dataBytes)) {
    if (pace?.isDue(now) === false) return;
    const call = tally.next(pace?.take(now) ?? now);
    const request = requests[call.account];
    if (request !== undefined) connection.start(call, request);
  }
}

/** Splits `whole` into `parts` numbers that differ by at most one. */
function sharesOf(whole: number, parts: number): number[] {
  return Array.from({ length: parts }, (_, i) => Math.floor((whole + i) / parts));
}
