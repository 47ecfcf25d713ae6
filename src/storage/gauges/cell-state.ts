import { owedCents, seenReserve } from "../../domain/reserve.js";
import { toCents } from "../../domain/values/cents.js";
import type { CellState, ReadCellState, SealState, WebhookState } from "../../metrics/ports.js";
import { NEEDS_ATTENTION, WAITS_FOR_CHECK } from "../../model/transactions.js";
import { PAYMENT_AGES } from "../../statements/ports.js";
import type { Cell } from "../database.js";
import { isKeptHere } from "../moves/here.js";
import type { Engine, Read } from "../sql/engine.js";
import { IS_UNALLOCATED } from "../sql/records/deposit-rows.js";
import { warningsIn } from "../sql/records/rail-account-rows.js";
import { orStoreError } from "../sql/store-error.js";
import { accountsIn } from "../statements/supply.js";
import { ActsWithoutPersonCount } from "./acts-without-person.js";

/** The rows of a table that one statement counts at most. */
const COUNTED_MAX = 10_000;
const HOUR_MILLIS = 3_600_000;
const DAY_MILLIS = 24 * HOUR_MILLIS;

type StateCell = Pick<Cell, "engine" | "listReader">;

/**
 * Implements the port `ReadCellState`. It reads where lists run, one statement after the other.
 * `first` is the first cell of the database.
 */
export function cellState({ engine, listReader }: StateCell, first: StateCell): ReadCellState {
  const statements = stateStatements(engine);
  const acts = new ActsWithoutPersonCount(
    { engine, reader: listReader },
    { engine: first.engine, reader: first.listReader },
  );
  const rows = <Row>(sql: string, bindings: Read["bindings"] = []): Promise<readonly Row[]> =>
    orStoreError(engine, listReader.rows<Row>(sql, bindings));
  return async (now) => {
    const [sums] = await rows<SumsRow>(statements.sums);
    const bindings = [now - HOUR_MILLIS, now - DAY_MILLIS, COUNTED_MAX, COUNTED_MAX];
    const payments = await rows<PaymentsRow>(statements.payments, bindings);
    const [held] = await rows<CountedRow>(statements.held, [COUNTED_MAX]);
    const [checks] = await rows<CountedRow>(statements.checks, [COUNTED_MAX]);
    const railAccounts = await rows<CellState["railAccounts"][number]>(statements.railAccounts);
    const warnings = await rows<{ readonly warnings: string; readonly count: number }>(statements.warnings);
    const [deposits] = await rows<CountedRow>(statements.deposits, [COUNTED_MAX]);
    const [lists] = await rows<{ readonly read: number | null }>(statements.depositLists);
    const [payouts] = await rows<CountedRow>(statements.payouts, [COUNTED_MAX]);
    const endpoints = await rows<EndpointsRow>(statements.endpoints);
    const retries = await rows<WebhookState["retries"][number]>(statements.retries, [COUNTED_MAX]);
    const [seals] = await rows<SealsRow>(statements.seals);
    const [alarms] = await rows<{ readonly count: number }>(statements.alarms);
    const leases = await rows<{ readonly name: string; readonly left_millis: number }>(statements.leases);
    const actsWithoutPerson = await acts.read();
    return {
      books: sums?.books ?? 0,
      supplyCents: sums?.supply ?? 0,
      reserveGapCents: gapOf(await rows<BackedRow>(statements.seen)),
      reserveCents: sums?.reserve ?? 0,
      shortfallCents: sums?.shortfall ?? 0,
      chargesCents: sums?.charges ?? 0,
      payments: payments.map(({ direction, age, count, oldest }) => ({
        direction,
        age: PAYMENT_AGES[age] ?? "ONE_DAY_OR_MORE",
        count,
        oldestAt: oldest,
      })),
      heldPayouts: { waiting: held?.count ?? 0, oldestAt: held?.oldest ?? undefined },
      payoutChecks: { waiting: checks?.count ?? 0, oldestAt: checks?.oldest ?? undefined },
      railAccounts,
      railWarnings: warnings.flatMap((row) =>
        Object.keys(warningsIn(row) ?? {}).map((code) => ({ code, count: row.count })),
      ),
      deposits: {
        waiting: deposits?.count ?? 0,
        oldestAt: deposits?.oldest ?? undefined,
        listReadAt: lists?.read ?? undefined,
      },
      payouts: { partsWaiting: payouts?.count ?? 0, oldestAt: payouts?.oldest ?? undefined },
      webhooks: webhookStateOf(endpoints, retries),
      seals: {
        rowsBehind: seals?.behind ?? 0,
        oldestUnsealedAt: seals?.oldest ?? undefined,
        alarms: alarms?.count ?? 0,
      } satisfies SealState,
      leases: leases.map(({ name, left_millis: leftMillis }) => ({ name, leftMillis })),
      actsWithoutPerson: actsWithoutPerson?.count,
    };
  };
}

type SumsRow = Readonly<Record<"supply" | "reserve" | "shortfall" | "charges", number | null>> & {
  readonly books: number;
};

/** A place of an organization, or what one of its rails reported, with the sums of its book. */
interface BackedRow extends Record<"available" | "held" | "unallocated", number | string> {
  readonly book: number;
  readonly place: number | string | null;
  readonly balance: string | null;
}

function gapOf(rows: readonly BackedRow[]): number {
  const gaps = [...Map.groupBy(rows, ({ book }) => book).values()].map((own) => {
    const [{ available, held, unallocated }] = own as [BackedRow];
    const owed = owedCents({ available: Number(available), held: Number(held), unallocated: Number(unallocated) });
    const places = own.flatMap(({ place }) => (place === null ? [] : [{ amountCents: toCents(Number(place)) }]));
    const balances = own.flatMap(({ balance }) => (balance === null ? [] : accountsIn(balance)));
    return Number(seenReserve(owed, { balances, places })?.differenceCents ?? 0n);
  });
  return gaps.reduce((sum, difference) => sum + Math.max(0, -difference), 0);
}

interface PaymentsRow {
  readonly direction: string;
  readonly age: number;
  readonly count: number;
  readonly oldest: number;
}

type CountedRow = Readonly<{ count: number; oldest: number | null }>;

interface EndpointsRow {
  readonly status: string;
  readonly count: number;
  readonly behind: number | null;
  readonly failing_since: number | null;
}

type SealsRow = Readonly<{ behind: number | null; oldest: number | null }>;

function webhookStateOf(endpoints: readonly EndpointsRow[], retries: WebhookState["retries"]): WebhookState {
  const active = endpoints.find(({ status }) => status === "ACTIVE");
  return {
    endpoints: endpoints.map(({ status, count }) => ({ status, count })),
    eventsBehind: active?.behind ?? 0,
    failingSince: active?.failing_since ?? undefined,
    retries,
  };
}

/** The statements about payouts that wait before their rail is asked. */
function holdStatements({ table }: Pick<Engine, "table">): Readonly<Record<"held" | "checks", string>> {
  const isHere = isKeptHere({ table });
  return {
    held: `
      SELECT COUNT(*) AS count, MIN(created_at) AS oldest FROM (
        SELECT t.created_at FROM ${table("transactions")} t JOIN ${table("books")} b ON b.number = t.book
        WHERE ${NEEDS_ATTENTION} AND held_for IS NOT NULL AND held_for <> 'CHECK' AND ${isHere} LIMIT ?) AS counted`,
    checks: `
      SELECT COUNT(*) AS count, MIN(created_at) AS oldest FROM (
        SELECT t.created_at FROM ${table("transactions")} t JOIN ${table("books")} b ON b.number = t.book
        WHERE ${WAITS_FOR_CHECK} AND ${isHere} LIMIT ?) AS counted`,
  };
}

function stateStatements({ table, indexedBy, nowMillis }: Engine) {
  const sum = (columns: string): string => `SUM(CAST(${columns} AS DOUBLE PRECISION))`;
  // Each open payment is in one of two indexes, and each condition is that of its index.
  const along = (index: string, condition: string): string => `
    SELECT * FROM (
      SELECT transaction_id, direction FROM ${table("payments")}${indexedBy(index)} WHERE ${condition} LIMIT ?) AS counted`;
  const open = [
    along("payments_new_payouts", "state = 'READY' AND direction = 'REDEEM'"),
    along("payments_other_open", "state <> 'ENDED' AND (state <> 'READY' OR direction = 'MINT')"),
  ].join(" UNION ALL ");
  const isHere = isKeptHere({ table });
  const seals = table("seals");
  const alarms = table("seal_alarms");
  return {
    sums: `
      SELECT COUNT(*) AS books, ${sum("available_cents + held_cents")} AS supply, ${sum("reserve_cents")} AS reserve,
        ${sum("shortfall_cents")} AS shortfall,
        ${sum("CASE WHEN charges_cents > 0 THEN charges_cents ELSE 0 END")} AS charges FROM ${table("books")} b WHERE ${isHere}`,
    seen: `
      SELECT b.number AS book, b.available_cents AS available, b.held_cents AS held, b.unallocated_cents AS unallocated,
        s.place, s.balance
      FROM (SELECT organization_id, NULL AS place, balance FROM ${table("rail_accounts")} WHERE balance IS NOT NULL
        UNION ALL SELECT o.organization_id, r.amount_cents AS place, NULL AS balance
        FROM ${table("reserve_places")} r JOIN ${table("books")} o ON o.number = r.book) s
      JOIN ${table("books")} b ON b.organization_id = s.organization_id WHERE ${isHere}`,
    payments: `
      SELECT p.direction, CASE WHEN t.created_at > ? THEN 0 WHEN t.created_at > ? THEN 1 ELSE 2 END AS age,
        COUNT(*) AS count, MIN(t.created_at) AS oldest
      FROM (${open}) p JOIN ${table("transactions")} t ON t.id = p.transaction_id
      JOIN ${table("books")} b ON b.number = t.book WHERE ${isHere} AND t.held_for IS NULL GROUP BY 1, 2`,
    ...holdStatements({ table }),
    railAccounts: `
      SELECT a.rail, a.payouts, COUNT(*) AS count
      FROM ${table("rail_accounts")} a JOIN ${table("books")} b ON b.organization_id = a.organization_id
      WHERE ${isHere} GROUP BY a.rail, a.payouts`,
    warnings: `
      SELECT a.warnings, COUNT(*) AS count
      FROM ${table("rail_accounts")} a JOIN ${table("books")} b ON b.organization_id = a.organization_id
      WHERE a.warnings <> '{}' AND ${isHere} GROUP BY a.warnings`,
    deposits: `
      SELECT COUNT(*) AS count, MIN(created_at) AS oldest FROM (
        SELECT d.created_at FROM ${table("deposits")} d JOIN ${table("books")} b ON b.number = d.book
        WHERE ${IS_UNALLOCATED} AND ${isHere} LIMIT ?) AS counted`,
    payouts: payoutsStatement({ table }, isHere),
    depositLists: `
      SELECT MIN(COALESCE(a.deposits_read_at, a.deposits_since)) AS read
      FROM ${table("rail_accounts")} a JOIN ${table("books")} b ON b.organization_id = a.organization_id
      WHERE a.deposits_since IS NOT NULL AND b.state = 'OPEN'`,
    endpoints: `
      SELECT e.status, COUNT(*) AS count, MIN(e.failing_since) AS failing_since,
        ${sum("CASE WHEN b.last_seq > e.settled_seq THEN b.last_seq - e.settled_seq ELSE 0 END")} AS behind
      FROM ${table("webhook_endpoints")} e JOIN ${table("books")} b ON b.organization_id = e.organization_id
      WHERE e.status <> 'DELETED' AND ${isHere} GROUP BY e.status`,
    retries: `
      SELECT CASE WHEN next_at IS NULL THEN 'given_up' ELSE 'waiting' END AS state, COUNT(*) AS count
      FROM (SELECT next_at FROM ${table("webhook_retries")} LIMIT ?) AS counted GROUP BY 1`,
    seals: `
      SELECT ${sum("s.last_seq - s.size")} AS behind, MIN(j.recorded_at) AS oldest
      FROM (
        SELECT b.number, b.last_seq,
          COALESCE((SELECT MAX(newest.size) FROM ${seals} newest WHERE newest.book = b.number), 0) AS size
        FROM ${table("books")} b
        WHERE b.state IN ('OPEN', 'RESTORED') AND NOT EXISTS (SELECT 1 FROM ${alarms} a WHERE a.book = b.number AND a.cleared_at IS NULL)
      ) AS s LEFT JOIN ${table("journal")} j ON j.book = s.number AND j.seq = s.size + 1`,
    alarms: `SELECT COUNT(*) AS count FROM ${alarms} WHERE cleared_at IS NULL`,
    leases: `SELECT name, until - ${nowMillis} AS left_millis FROM ${table("leases")} ORDER BY name`,
  };
}

/** The parts of approved files that have not run, by the partial index that has no others. */
function payoutsStatement({ table }: Pick<Engine, "table">, isHere: string): string {
  return `
    SELECT COUNT(*) AS count, MIN(approved_at) AS oldest FROM (
      SELECT f.approved_at FROM ${table("payout_parts")} p JOIN ${table("payout_files")} f
        ON f.book = p.book AND f.sha256 = p.file_sha256 AND f.rows_sha256 = p.rows_sha256
      JOIN ${table("books")} b ON b.number = p.book
      WHERE p.part > 0 AND p.outcomes IS NULL AND f.stopped_at IS NULL AND ${isHere} LIMIT ?) AS counted`;
}
