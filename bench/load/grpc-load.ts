import { grpcCallOf } from "./calls.js";
import { contractOf, OWN_CONTRACT } from "./contract.js";
import { GrpcConnection } from "./grpc-connection.js";
import { encodeFields } from "./hpack.js";
import type { Job } from "./job.js";
import { Pace } from "./pace.js";
import type { Tally } from "./tally.js";

/**
 * Keeps the job's number of calls in flight, or starts calls at its rate, while the tally is open.
 * Resolves when the tally is closed and the last call is settled. Books failures, never throws.
 */
export async function driveGrpc(job: Job, tally: Tally): Promise<void> {
  const { addresses, apiKey, apiKeys, connections, inFlight, ratePerSecond } = job;
  const call = grpcCallOf(job, job.kesc === undefined ? OWN_CONTRACT : await contractOf(job.kesc));
  const open = Array.from({ length: connections }, (_, i) => {
    const address = addresses[i % addresses.length] ?? addresses[0];
    const [headers = Buffer.alloc(0), ...others] = [apiKey, ...(apiKeys ?? [])].map((key) =>
      headersOf({ address, path: call.path, apiKey: key }),
    );
    const pace = ratePerSecond === undefined ? undefined : new Pace(ratePerSecond / connections, performance.now());
    // The shares of the connections differ by one call at most.
    const share = Math.floor((inFlight + i) / connections);
    return new GrpcConnection({
      address,
      call,
      headers: apiKeys === undefined ? headers : ({ account }) => others[account] ?? headers,
      inFlight: share,
      pace,
      tally,
    });
  });
  await Promise.all(open.map(({ done }) => done));
}

/** The header block of a call. Without a key it has none. */
export function headersOf({ address, path, apiKey }: { address: string; path: string; apiKey: string }): Buffer {
  return encodeFields([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", address],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    ...(apiKey === "" ? [] : [["x-api-key", apiKey] as const]),
  ]);
}
