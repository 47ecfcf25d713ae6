import { status as Status } from "@grpc/grpc-js";

import type { OrganizationId } from "../../../src/domain/values/ids.js";
import type { Cell } from "../../../src/storage/database.js";
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
 * Asks the service and the database about one organization. All clients must have settled what they
 * began.
 */
export async function audit(
  acknowledged: readonly Acknowledged[],
  given: { caller: GrpcCaller; databaseUrl: string; organizationId: OrganizationId },
): Promise<Audit> {
  return {
    checked: acknowledged.length,
    lost: await lostOf(acknowledged, given.caller),
    doubled: await doubledOf(acknowledged, given),
    wrong: await wrongBalancesOf(acknowledged, given.caller),
  };
}

/** Runs `kesc verify`. Returns what it finds. */
export async function verified(databaseUrl: string): Promise<readonly string[]> {
  const { code, stdout, stderr } = await kesc(["verify"], { DATABASE_URL: databaseUrl });
  return code === 0 ? [] : [`kesc verify: ${stdout}${stderr}`];
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

/** A natural key of an organization, what it made, and how often the journal has it. */
interface MadeRow {
  readonly natural_key: string | null;
  readonly id: string;
  readonly journal_rows: number | null;
}

async function doubledOf(
  acknowledged: readonly Acknowledged[],
  { databaseUrl, organizationId }: { databaseUrl: string; organizationId: OrganizationId },
): Promise<readonly string[]> {
  const database = await openDatabaseAt(databaseUrl);
  try {
    // All cells: an organization has a book in one of them alone.
    const made = (await Promise.all(database.cells.map((cell) => madeIn(cell, organizationId)))).flat();
    const asked = new Map(acknowledged.map(({ naturalKey, id }) => [naturalKey, id]));
    return made.flatMap(({ natural_key: naturalKey, id, journal_rows: journalRows }) => {
      if (asked.get(naturalKey ?? "") !== id) return [`${String(naturalKey)} also made ${id}`];
      return journalRows === 1 ? [] : [`${String(naturalKey)} stands ${String(journalRows ?? 0)} times in the journal`];
    });
  } finally {
    await database.close();
  }
}

function madeIn({ reader, engine: { table } }: Cell, organizationId: OrganizationId): Promise<readonly MadeRow[]> {
  const own = `book IN (SELECT number FROM ${table("books")} WHERE organization_id = ?)`;
  return reader.rows<MadeRow>(
    `SELECT user_id AS natural_key, account_id AS id,
       (SELECT count(*) FROM ${table("journal")} j
        WHERE j.book = h.book AND j.account_id = h.account_id AND kind = 'account.created') AS journal_rows
     FROM ${table("account_holders")} h WHERE ${own}
     UNION ALL
     SELECT reference, id, journal_rows
     FROM ${table("transactions")} t LEFT JOIN (
       SELECT transaction_id, count(*) AS journal_rows FROM ${table("journal")} WHERE ${own} GROUP BY transaction_id
     ) j ON j.transaction_id = t.id
     WHERE ${own}`,
    [organizationId, organizationId, organizationId],
  );
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
