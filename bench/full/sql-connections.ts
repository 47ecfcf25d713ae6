import pg from "pg";

import { type Sample, sampleOf } from "./probe.js";
import { AMOUNT_CENTS, type SqlMints } from "./sql-ledger.js";

/** Mints in SQL over `connections` connections of the pg driver, each with one call at a time. */
export async function mintOverConnections(
  databaseUrl: string,
  { connections, seconds, run, mints }: { connections: number; seconds: number; run: number; mints: SqlMints },
): Promise<{ sample: Sample; transactions: number }> {
  const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: databaseUrl }));
  try {
    await Promise.all(clients.map((client) => client.connect()));
    const latencies: number[] = [];
    const from = performance.now();
    const until = from + seconds * 1000;
    await Promise.all(
      clients.map(async (client, i) => {
        for (let n = 0, now = from; now < until; n++) {
          const account = 1 + Math.floor(Math.random() * mints.accounts);
          await client.query({
            name: "mint",
            text: mints.statement,
            values: [account, AMOUNT_CENTS, `bench-${String(run)}-${String(i)}-${String(n)}`],
          });
          const end = performance.now();
          latencies.push(end - now);
          now = end;
        }
      }),
    );
    const sample = sampleOf(latencies, (performance.now() - from) / 1000);
    return { sample, transactions: latencies.length };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}
