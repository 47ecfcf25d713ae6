import { median } from "../report/figures.js";
import { type Figure, ratioFigure } from "../report/report.js";
import type { Service } from "../servers/service.js";
import { PAGE_SIZE_MAX, ServiceClient } from "../servers/service-client.js";
import { progress } from "../stage.js";

const PAGE_SIZE = 50;
const TRIES = 500;

/** A list of transactions: of the account, or of the organization when the id is empty. */
interface List {
  name: string;
  accountId: string;
  count: number;
}

/** The time of the last page of long lists, over that of the first page. */
export async function pageFigures(service: Service): Promise<Figure[]> {
  const client = new ServiceClient(service.program.address, service.apiKey);
  const [account = 0] = service.acknowledged;
  const all = service.acknowledged.reduce((sum, count) => sum + count, 0);
  const lists = [
    { name: "an account", accountId: service.accountIds[0] ?? "", count: account },
    { name: "the organization", accountId: "", count: all },
  ];
  const figures: Figure[] = [];
  for (const list of lists) {
    progress(`pages of ${list.name}`);
    const lastPageToken = await walk(client, list);
    const [first, last] = [[] as number[], [] as number[]];
    for (let i = 0; i < TRIES; i++) {
      first.push(await pageMillis(client, list, ""));
      last.push(await pageMillis(client, list, lastPageToken));
    }
    figures.push(ratioFigure(`last ÷ first page of ${list.name}, p50`, median(last) / median(first)));
  }
  client.close();
  return figures;
}

/**
 * Walks through the list, and throws unless it has exactly `count` different transactions. Returns
 * the token of the last page, which is as long as the first.
 */
async function walk(client: ServiceClient, { name, accountId, count }: List): Promise<string> {
  const ids = new Set<string>();
  let token = "";
  for (;;) {
    const left = count - ids.size;
    const pageSize = left > PAGE_SIZE ? Math.min(PAGE_SIZE_MAX, left - PAGE_SIZE) : PAGE_SIZE;
    const page = await client.transactionsPage({ accountId, pageSize, pageToken: token });
    for (const { id } of page.transactions) ids.add(id);
    if (page.next_page_token === undefined) break;
    token = page.next_page_token;
  }
  if (ids.size !== count) throw new Error(`${name} lists ${String(ids.size)} transactions, not ${String(count)}`);
  return token;
}

async function pageMillis(client: ServiceClient, { name, accountId, count }: List, pageToken: string): Promise<number> {
  const from = performance.now();
  const { transactions } = await client.transactionsPage({ accountId, pageSize: PAGE_SIZE, pageToken });
  const millis = performance.now() - from;
  if (transactions.length !== Math.min(PAGE_SIZE, count)) throw new Error(`a page of ${name} is too short`);
  return millis;
}
