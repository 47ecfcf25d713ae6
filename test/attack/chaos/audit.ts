import { status as Status } from "@grpc/grpc-js";

import type { GrpcCaller, GrpcReply } from "../../support/callers/grpc-caller.js";
import { openDatabaseAt } from "../../support/databases.js";
import { kesc } from "../../support/service/kesc.js";
import type { Acknowledged } from "./clients.js";

/** The comparison of what the service has in the end with what it had acknowledged. */
export interface Audit {
  /** The number of acknowledged effects that the audit looked for. */
  readonly checked: number;
  /** Effects that were acknowledged and are missing, or differ from their acknowledgement. */
  readonly lost: readonly string[];
  /** Effects that are there twice, or that no client had asked for. */
  readonly doubled: readonly string[];
  /** Balances that are not the sum of the acknowledged effects, and findings of `kesc verify`. */
  readonly wrong: readonly string[];
}

const CALLS_AT_ONCE = 32;

/**
 * Asks the service, the database and `kesc verify`. All clients must have settled what they began.
 */
export async function audit(
  acknowledged: readonly Acknowledged[],
  { caller, databaseUrl }: { caller: GrpcCaller; databaseUrl: string },
): Promise<Audit> {
  const verified = await kesc(["verify"], { DATABASE_URL: databaseUrl });
  return {
    checked: acknowledged.length,
    lost: await lostOf(acknowledged, caller),
    doubled: await doubledOf(acknowledged, databaseUrl),
    wrong: [
      ...(await wrongBalancesOf(acknowledged, caller)),
      ...(verified.code === 0 ? [] : [`kesc verify: ${verified.stdout}${verified.stderr}`]),
    ],
  };
}

async function lostOf(acknowledged: readonly Acknowledged[], caller: GrpcCaller): Promise<readonly string[]> {
  return problemsOf(acknowledged, async ({ kind, naturalKey, id, accountId, cents }) => {
    const isAccount = kind === "CreateAccount";
    const answer = isAccount
      ? await caller.call("GetAccount", { account_id: id })
      : await caller.call("GetTransaction", { transaction_id: id });
    const expected = isAccount
      ? { id, user_id: naturalKey }
      : {
          id,
          account_id: accountId,
          reference: naturalKey,
          amount: decimalOf(Math.abs(cents)),
          type: `TRANSACTION_TYPE_${kind.toUpperCase()}`,
          status: "TRANSACTION_STATUS_COMPLETED",
        };
    return differenceOf(answer, expected);
  });
}

async function wrongBalancesOf(acknowledged: readonly Acknowledged[], caller: GrpcCaller): Promise<readonly string[]> {
  const balances = new Map<string, number>();
  for (const { accountId, cents } of acknowledged) balances.set(accountId, (balances.get(accountId) ?? 0) + cents);
  return problemsOf([...balances], async ([id, cents]) => {
    const answer = await caller.call("GetAccount", { account_id: id });
    return differenceOf(answer, { id, available_balance: decimalOf(cents), held_balance: "0.00" });
  });
}

/** Reads in the database what each natural key made, and how often the journal has it. */
async function doubledOf(acknowledged: readonly Acknowledged[], databaseUrl: string): Promise<readonly string[]> {
  const database = await openDatabaseAt(databaseUrl);
  try {
    const made = await database.reader.rows<{ natural_key: string; id: string; journal_rows: number | null }>(
      `SELECT user_id AS natural_key, id, journal_rows
       FROM accounts LEFT JOIN (
         SELECT account_id, count(*) AS journal_rows FROM journal WHERE kind = 'account.created' GROUP BY account_id
       ) j ON j.account_id = accounts.id
       UNION ALL
       SELECT reference, id, journal_rows
       FROM transactions LEFT JOIN (
         SELECT transaction_id, count(*) AS journal_rows FROM journal GROUP BY transaction_id
       ) j ON j.transaction_id = transactions.id`,
    );
    const asked = new Map(acknowledged.map(({ naturalKey, id }) => [naturalKey, id]));
    return made.flatMap(({ natural_key: naturalKey, id, journal_rows: journalRows }) => {
      if (asked.get(naturalKey) !== id) return [`${naturalKey} also made ${id}`];
      return journalRows === 1 ? [] : [`${naturalKey} stands ${String(journalRows ?? 0)} times in the journal`];
    });
  } finally {
    await database.close();
  }
}

async function problemsOf<Item>(
  items: readonly Item[],
  problemOf: (item: Item) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) {
      const problem = await problemOf(item);
      if (problem !== undefined) problems.push(problem);
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return problems;
}

function differenceOf(
  { code, response, message }: GrpcReply,
  expected: Readonly<Record<string, string>>,
): string | undefined {
  if (code !== 0) return `${JSON.stringify(expected)}: ${Status[code] ?? ""} ${message}`;
  const found = (response["transaction"] ?? response["account"]) as Readonly<Record<string, unknown>>;
  const differing = Object.keys(expected).filter((field) => found[field] !== expected[field]);
  if (differing.length === 0) return undefined;
  return `${JSON.stringify(expected)}: found ${differing.map((field) => String(found[field])).join(", ")}`;
}

function decimalOf(cents: number): string {
  return (cents / 100).toFixed(2);
}
