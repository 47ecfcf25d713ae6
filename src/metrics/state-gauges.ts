import { BoundedReading } from "../../runtime/metrics/bounded-reading.js";
import type { Metrics } from "../../runtime/metrics/metrics.js";
import type { Labels, Sample } from "../../runtime/metrics/tally.js";
import { WARNING_CODES } from "../domain/rail-account.js";
import type { CellState, ReadCellState } from "./ports.js";

/** The database is asked at most this often, however many scrapes come. */
const EVERY_MILLIS = 10_000;
/** A scrape does not wait longer for a slow database, and then shows the last state. */
const WAIT_MILLIS = 3_000;
/** An older state is not shown: a gauge that stands still would look healthy. */
const KEEP_MILLIS = 60_000;

interface StateOptions {
  readonly cells: readonly { readonly number: number; readonly read: ReadCellState }[];
  /** Whether this server seals the books. Without a seal key there is no lag to show. */
  readonly seals: boolean;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

interface CellReading {
  readonly number: number;
  readonly state: CellState;
}

type SamplesOf = (state: CellState, cell: Labels, now: number) => readonly Sample[];

/**
 * Adds the gauges that the database knows. Every server shows the same values, so a query takes the
 * maximum of them.
 */
export function addStateGauges(metrics: Metrics, { cells, seals, now, onError }: StateOptions): void {
  const reading = new BoundedReading<readonly CellReading[]>({
    read: async () => {
      const states: CellReading[] = [];
      for (const { number, read } of cells) states.push({ number, state: await read(now()) });
      return states;
    },
    everyMillis: EVERY_MILLIS,
    waitMillis: WAIT_MILLIS,
    keepMillis: KEEP_MILLIS,
    monotonicMillis: () => performance.now(),
    onError,
  });
  const gauge = (name: string, help: string, samplesOf: SamplesOf): void => {
    metrics.gauge({ name, help }, async () => {
      const states = (await reading.value()) ?? [];
      return states.flatMap(({ number, state }) => samplesOf(state, { cell: String(number) }, now()));
    });
  };
  metrics.gauge({ name: "kesc_state_known", help: "1 if the database could be read lately, 0 if not." }, async () => [
    { labels: {}, value: (await reading.value()) === undefined ? 0 : 1 },
  ]);
  const one: AddValue = (name, help, valueOf) => {
    gauge(name, help, (state, labels, now) => [{ labels, value: valueOf(state, now) }]);
  };
  addMoney(gauge, one);
  addWebhooks(gauge, one);
  if (seals) addSeals(one);
  gauge(
    "kesc_lease_left_seconds",
    "Time that is left of each lease: renewed to 60 every 15 s. Below 40, its work stands still.",
    ({ leases }, cell) =>
      leases.map(({ name, leftMillis }) => ({
        labels: { ...cell, lease: name },
        value: Math.max(0, leftMillis) / 1_000,
      })),
  );
  gauge(
    "kesc_acts_without_person",
    "Changes on the database since the first operator, in books and of operators.",
    ({ actsWithoutPerson: value }, labels) => (value === undefined ? [] : [{ labels, value }]),
  );
}

type AddGauge = (name: string, help: string, samplesOf: SamplesOf) => void;
/** Adds a gauge with one value for each cell. */
type AddValue = (name: string, help: string, valueOf: (state: CellState, now: number) => number) => void;

function addMoney(gauge: AddGauge, one: AddValue): void {
  one("kesc_books", "Books, one for each organization.", ({ books }) => books);
  one("kesc_supply_cents", "KESC in circulation: minted minus redeemed.", ({ supplyCents }) => supplyCents);
  one("kesc_reserve_cents", "Shillings that the books say are there.", ({ reserveCents }) => reserveCents);
  one(
    "kesc_reserve_gap_cents",
    "Shillings that are owed and were not seen, each organization by itself.",
    ({ reserveGapCents }) => reserveGapCents,
  );
  one("kesc_shortfall_cents", "Shillings that the books say are missing.", ({ shortfallCents }) => shortfallCents);
  one("kesc_charges_cents", "Charges of rails that nobody has paid for yet.", ({ chargesCents }) => chargesCents);
  gauge("kesc_payments_open", "Payments over rails that have not ended, by age.", ({ payments }, cell) =>
    payments.map(({ direction, age, count }) => ({
      labels: { ...cell, direction: direction.toLowerCase(), age: age.toLowerCase() },
      value: count,
    })),
  );
  one("kesc_payments_oldest_seconds", "Age of the oldest open payment that is not held.", ({ payments }, now) =>
    secondsSince(oldestOf(payments.map(({ oldestAt }) => oldestAt)), now),
  );
  one(
    "kesc_payouts_held",
    "Redemptions that a person must release or refuse; 10,000 at most.",
    ({ heldPayouts }) => heldPayouts.waiting,
  );
  one("kesc_payouts_held_oldest_seconds", "Age of the oldest redemption that is held.", ({ heldPayouts }, now) =>
    secondsSince(heldPayouts.oldestAt, now),
  );
  one(
    "kesc_payout_checks_waiting",
    "Redemptions that wait for the answer of a check; 10,000 at most.",
    ({ payoutChecks }) => payoutChecks.waiting,
  );
  one(
    "kesc_payout_checks_oldest_seconds",
    "Age of the oldest redemption that waits for the answer of a check.",
    ({ payoutChecks }, now) => secondsSince(payoutChecks.oldestAt, now),
  );
  gauge("kesc_rail_accounts", "Accounts at rails, by their switch for payouts.", ({ railAccounts }, cell) =>
    railAccounts.map(({ rail, payouts, count }) => ({ labels: { ...cell, rail, payouts }, value: count })),
  );
  gauge("kesc_rail_warnings", "Warnings that stand against accounts at rails.", ({ railWarnings }, cell) =>
    WARNING_CODES.map((code) => ({
      labels: { ...cell, code },
      value: railWarnings.reduce((sum, each) => sum + (each.code === code ? each.count : 0), 0),
    })),
  );
  one("kesc_deposits_waiting", "Deposits that wait for a person; 10,000 at most.", ({ deposits }) => deposits.waiting);
  one("kesc_deposits_oldest_seconds", "Age of the oldest deposit that waits.", ({ deposits }, now) =>
    secondsSince(deposits.oldestAt, now),
  );
  one(
    "kesc_payout_parts_waiting",
    "Parts of approved files of payouts, up to 1,000 rows each, that have not run; 10,000 at most.",
    ({ payouts }) => payouts.partsWaiting,
  );
  one("kesc_payout_files_oldest_seconds", "Age of the approved file of payouts that runs for longest.", (state, now) =>
    secondsSince(state.payouts.oldestAt, now),
  );
  one(
    "kesc_deposit_list_age_seconds",
    "Age of the list of received payments that was read longest ago; 0 without one.",
    ({ deposits }, now) => secondsSince(deposits.listReadAt, now),
  );
}

function addWebhooks(gauge: AddGauge, one: AddValue): void {
  gauge("kesc_webhook_endpoints", "Webhook endpoints, by status.", ({ webhooks }, cell) =>
    webhooks.endpoints.map(({ status, count }) => ({
      labels: { ...cell, status: status.toLowerCase() },
      value: count,
    })),
  );
  one(
    "kesc_webhook_events_behind",
    "Events that active endpoints have not been sent.",
    ({ webhooks }) => webhooks.eventsBehind,
  );
  gauge(
    "kesc_webhook_events_undelivered",
    "Events that are tried again or given up; 10,000 at most.",
    ({ webhooks }, cell) =>
      ["waiting", "given_up"].map((state) => ({
        labels: { ...cell, state },
        value: webhooks.retries.find((each) => each.state === state)?.count ?? 0,
      })),
  );
  one(
    "kesc_webhook_failing_seconds",
    "How long the endpoint has failed that has failed longest.",
    ({ webhooks }, now) => secondsSince(webhooks.failingSince, now),
  );
}

function addSeals(one: AddValue): void {
  one("kesc_seal_rows_behind", "Rows of the books that no seal covers yet.", ({ seals }) => seals.rowsBehind);
  one("kesc_seal_lag_seconds", "Age of the oldest row that no seal covers yet.", ({ seals }, now) =>
    secondsSince(seals.oldestUnsealedAt, now),
  );
  one("kesc_seal_alarms", "Books with a seal alarm that nobody has cleared.", ({ seals }) => seals.alarms);
}

function oldestOf(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Returns 0 if there is no time. */
function secondsSince(at: number | undefined, now: number): number {
  return at === undefined ? 0 : Math.max(0, now - at) / 1_000;
}
