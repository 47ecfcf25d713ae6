import { rounded } from "../figures.js";
import type { Service } from "../service.js";
import { PAGE_SIZE_MAX, ServiceClient } from "../service-client.js";
import { emptyCalls, grpcProbe } from "./grpc-probes.js";
import { inRounds, type Probe, sampleOf, samplesOf, type Series } from "./probe.js";
import { type Figure, type Findings, ratioOf } from "./report.js";
import { progress, type Stage } from "./stage.js";

const IN_FLIGHT = [1, 100] as const;
const PAGE_SIZE = 50;
/** So many transactions, from all of history, are asked for in turn. */
const SAMPLED_MAX = 1_000;

/** A list, walked to its end. */
interface List {
  name: string;
  /** Empty for the list of the organization. */
  accountId: string;
  count: number;
  /** Asks for the last page, which is as long as the first. */
  lastPageToken: string;
  sampled: { id: string; accountId: string }[];
}

/** Single resources, and the first and last pages of long lists. The service is filled and runs. */
export async function reads(stage: Stage, service: Service): Promise<Findings> {
  const client = new ServiceClient(service.program.address, service.apiKey);
  progress("reads: walking the lists");
  const total = service.acknowledged.reduce((sum, count) => sum + count, 0);
  const [firstAccount = ""] = service.accountIds;
  const lists = [
    await walk(client, { name: "an account", accountId: firstAccount, count: service.acknowledged[0] ?? 0 }),
    await walk(client, { name: "the organization", accountId: "", count: total }),
  ];
  const sampled = lists.at(-1)?.sampled ?? [];
  const accountIds = sampled.map(({ accountId }) => accountId);
  const transactionIds = sampled.map(({ id }) => id);

  const singles = IN_FLIGHT.flatMap((inFlight) => {
    const yardstick = `empty grpc-js handler @ ${String(inFlight)}`;
    const calls = { inFlight, yardstick, accountIds };
    return [
      emptyCalls(stage, service, { name: yardstick, inFlight }),
      grpcProbe(stage, service, { ...calls, name: `GetAccount @ ${String(inFlight)}`, call: "getAccount" }),
      grpcProbe(stage, service, {
        ...calls,
        name: `GetTransaction @ ${String(inFlight)}`,
        call: "getTransaction",
        transactionIds,
      }),
    ];
  });
  const pages = lists.flatMap((list) => [pageProbe(client, list, "first"), pageProbe(client, list, "last")]);
  const series = await inRounds(stage, "reads", [...singles, ...pages]);
  client.close();
  return {
    settings: { transactions: total, "page size": PAGE_SIZE, database: "SQLite, synchronous=FULL" },
    series,
    figures: lists.map((list) => lastToFirst(series, list)),
  };
}

/**
 * Walks through the list, and throws unless it has exactly `count` different transactions. The
 * pages are long, but for the last: it has PAGE_SIZE transactions, if there are so many.
 */
async function walk(
  client: ServiceClient,
  { name, accountId, count }: { name: string; accountId: string; count: number },
): Promise<List> {
  const ids = new Set<string>();
  const sampled: List["sampled"] = [];
  const sampledEvery = Math.ceil(count / SAMPLED_MAX);
  let lastPageToken = "";
  for (;;) {
    const left = count - ids.size;
    const pageSize = left > PAGE_SIZE ? Math.min(PAGE_SIZE_MAX, left - PAGE_SIZE) : PAGE_SIZE;
    const page = await client.transactionsPage({ accountId, pageSize, pageToken: lastPageToken });
    for (const transaction of page.transactions) {
      if (ids.size % sampledEvery === 0) sampled.push({ id: transaction.id, accountId: transaction.account_id });
      ids.add(transaction.id);
    }
    if (page.next_page_token === "") break;
    lastPageToken = page.next_page_token;
  }
  if (ids.size !== count)
    throw new Error(`the list of ${name} has ${String(ids.size)} transactions, not ${String(count)}`);
  return { name, accountId, count, lastPageToken, sampled };
}

const probeName = ({ name }: List, which: "first" | "last"): string => `${which} page of ${name}`;

/**
 * Asks for one page again and again, one call at a time. Throws when it is another page than it
 * should be.
 */
function pageProbe(client: ServiceClient, list: List, which: "first" | "last"): Probe {
  const { accountId, count, lastPageToken } = list;
  const pageToken = which === "first" ? "" : lastPageToken;
  const name = probeName(list, which);
  return {
    name,
    ...(which === "last" ? { yardstick: probeName(list, "first") } : {}),
    measure: async (seconds) => {
      const latencies: number[] = [];
      const from = performance.now();
      let now = from;
      while (now - from < seconds * 1000) {
        const page = await client.transactionsPage({ accountId, pageSize: PAGE_SIZE, pageToken });
        const end = performance.now();
        latencies.push(end - now);
        const isLast = page.next_page_token === "";
        if (page.transactions.length !== Math.min(PAGE_SIZE, count) || isLast !== (pageToken === lastPageToken))
          throw new Error(
            `the ${name} has ${String(page.transactions.length)} transactions, or is not where it should be`,
          );
        now = end;
      }
      return sampleOf(latencies, (now - from) / 1000);
    },
  };
}

function lastToFirst(series: Series[], list: List): Figure {
  const [first, last] = [samplesOf(series, probeName(list, "first")), samplesOf(series, probeName(list, "last"))];
  const value = rounded(ratioOf(last, first, "p50Millis"), 3);
  return {
    name: `last ÷ first page of ${list.name}, ${list.count.toLocaleString("en")} transactions, p50`,
    value,
    unit: "",
  };
}
