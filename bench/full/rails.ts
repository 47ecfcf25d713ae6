import { setTimeout as sleep } from "node:timers/promises";

import { TransactionStatus } from "../../src/gen/kesc/v1/transaction.js";
import type { Options } from "../options.js";
import { callbackSettings, giveRailAccount, MPESA } from "../rails/rail-account.js";
import { setStub } from "../rails/stub-settings.js";
import { median, rounded } from "../report/figures.js";
import { type Figure, type Findings, ratioFigure } from "../report/report.js";
import { type FigureName, ratioOf, type Sample, type Series } from "../report/series.js";
import { inDatabase, organizationOf } from "../servers/in-database.js";
import { measuredLoad } from "../servers/measured-load.js";
import { cpuTimeOf } from "../servers/process-stats.js";
import { type Program, stop } from "../servers/programs.js";
import { AMOUNT, newTenant, problemsInBooks, type Service } from "../servers/service.js";
import { ServiceClient } from "../servers/service-client.js";
import { progress, type Stage } from "../stage.js";
import { enginesOf } from "./engines.js";

const IN_FLIGHT = 100;
const RAMP_SECONDS = 0.2;
const WARM_UP_ROUNDS = 6;
const OPEN_PAYMENTS = 1_000;
const SLOW_MILLIS = 5_000;
/** After this time the settlement has begun all its calls, or has ended them. */
const CHANGE_MILLIS = 1_000;
const POLL_MILLIS = 100;
const PAYMENTS = 2_000;
const WARM_UP_PAYMENTS = 200;
const RUNS_MAX = 3;

const { TRANSACTION_STATUS_PENDING: PENDING, TRANSACTION_STATUS_PROCESSING: PROCESSING } = TransactionStatus;

/** A service, and an organization on it with an account at a stub of M-Pesa. */
interface Given {
  engine: string;
  service: Service;
  payers: Service;
  stub: Program;
}

/**
 * The part `rails`: what payments at a slow rail cost the direct mints of another organization, and
 * how many payments a second the settlement carries. PostgreSQL takes part if its URL is in
 * POSTGRES_URL.
 */
export async function rails(stage: Stage, options: Options): Promise<Findings> {
  const { rounds, seconds } = options;
  const findings: Findings = {
    settings: { rounds, seconds, "open payments": OPEN_PAYMENTS, payments: PAYMENTS },
    series: [],
    figures: [],
  };
  for (const { name, newDatabase } of enginesOf(options)) {
    const given = await prepare(stage, name, await newDatabase("rails"));
    const settled = await settledPayments(stage, given, Math.min(rounds, RUNS_MAX));
    const { series, figures } = await besideOpenPayments(stage, given, options);
    findings.series.push(...series);
    findings.figures.push(...figures, ...settled);
    for (const problem of await problemsInBooks(given.payers)) stage.blame(problem);
    await stage.checkBooks(given.service);
    await stop(given.stub);
  }
  return findings;
}

async function prepare(stage: Stage, engine: string, databaseUrl: string | undefined): Promise<Given> {
  const stub = await stage.startOwn("daraja-stub", "rails/daraja-stub.js");
  const { env } = callbackSettings(stage.folder);
  const name = `rails-${engine}`;
  const service = await stage.startService(name, { env, ...(databaseUrl === undefined ? {} : { databaseUrl }) });
  const payers = await newTenant(service);
  await stop(service.program);
  await inDatabase(service, async (database) => {
    await giveRailAccount(database, await organizationOf(database, payers.apiKey), stub.address);
  });
  service.program = payers.program = await stage.startServer(service, name);
  return { engine, service, payers, stub };
}

/** Direct mints, alone and beside open payments of another organization in turn. */
async function besideOpenPayments(
  stage: Stage,
  given: Given,
  { rounds, seconds }: Options,
): Promise<Pick<Findings, "series" | "figures">> {
  const { engine, stub } = given;
  const alone: Series = { name: `direct mint @ ${String(IN_FLIGHT)}, ${engine}`, yardstick: null, samples: [] };
  const beside: Series = { name: `${alone.name}, beside open payments`, yardstick: alone.name, samples: [] };
  await directMints(stage, given, seconds * WARM_UP_ROUNDS);
  for (let round = 1; round <= rounds; round++) {
    progress(`rails, ${engine}: round ${String(round)} of ${String(rounds)}`);
    await setStub(stub, { delayMillis: 0, accepts: false, gatewayAddress: "" });
    await noneHas(given.payers, [PENDING]);
    await sleep(CHANGE_MILLIS);
    alone.samples.push(await directMints(stage, given, seconds));
    await setStub(stub, { delayMillis: SLOW_MILLIS, accepts: true, gatewayAddress: "" });
    await pay(given.payers, { name: "mint", count: OPEN_PAYMENTS });
    await sleep(CHANGE_MILLIS);
    beside.samples.push(await directMints(stage, given, seconds));
  }
  const ratio = (what: string, figure: FigureName): Figure =>
    ratioFigure(
      `${what} of direct mints, beside ${OPEN_PAYMENTS.toLocaleString("en")} open payments ÷ alone, ${engine}`,
      ratioOf(beside.samples, alone.samples, figure),
    );
  return { series: [alone, beside], figures: [ratio("rate", "callsPerSecond"), ratio("main µs", "mainMicros")] };
}

async function directMints(stage: Stage, { engine, service }: Given, seconds: number): Promise<Sample> {
  const { problems, ...sample } = await measuredLoad(
    { loader: stage.loader, service, programs: [service.program], booked: true },
    { transport: "grpc", call: "mint", inFlight: IN_FLIGHT, connections: 1, rampSeconds: RAMP_SECONDS, seconds },
  );
  stage.blameAll(`direct mints, ${engine}`, problems);
  return sample;
}

/** The payments a second that end, when the rail answers at once and tells the gateway the end. */
async function settledPayments(stage: Stage, given: Given, runs: number): Promise<Figure[]> {
  const { engine, service, stub } = given;
  const gateway = await stage.startGateway(service);
  await setStub(stub, { delayMillis: 0, accepts: true, gatewayAddress: gateway.address });
  await timeOf(given, { name: "mint", count: WARM_UP_PAYMENTS });
  await timeOf(given, { name: "redeem", count: WARM_UP_PAYMENTS });
  const runsOf = { mint: [] as Measured[], redeem: [] as Measured[] };
  for (let run = 1; run <= runs; run++) {
    progress(`rails, ${engine}: payments, run ${String(run)} of ${String(runs)}`);
    runsOf.mint.push(await timeOf(given, { name: "mint", count: PAYMENTS }));
    runsOf.redeem.push(await timeOf(given, { name: "redeem", count: PAYMENTS }));
  }
  await stop(gateway);
  const figure = (name: string, unit: string, values: readonly number[]): Figure => ({
    name: `${name}, ${engine}`,
    value: rounded(median(values), 0),
    unit,
  });
  return (["mint", "redeem"] as const).flatMap((name) => {
    const what = name === "mint" ? "prompts" : "payouts";
    return [
      figure(
        `${what} from acceptance to completion`,
        "a second",
        runsOf[name].map(({ perSecond }) => perSecond),
      ),
      figure(
        `${what}, processor time of the server`,
        "µs each",
        runsOf[name].map(({ micros }) => micros),
      ),
    ];
  });
}

interface Measured {
  perSecond: number;
  /** Processor time of the server a payment, of all its threads. */
  micros: number;
}

/** Makes payments, and waits until the last one is completed. */
async function timeOf({ payers }: Given, payments: Payments): Promise<Measured> {
  const { pid } = payers.program.process;
  const before = cpuTimeOf(pid);
  const from = performance.now();
  await pay(payers, payments);
  await noneHas(payers, [PENDING, PROCESSING]);
  const seconds = (performance.now() - from) / 1_000;
  const after = cpuTimeOf(pid);
  const change = payments.name === "mint" ? 1 : -1;
  // Each payment has the amount of a mint of the benchmark. A failed one would be missing here.
  for (const i of accountsOf(payers, payments.count)) payers.acknowledged[i] = (payers.acknowledged[i] ?? 0) + change;
  const micros = after.main + after.other - before.main - before.other;
  return { perSecond: payments.count / seconds, micros: micros / payments.count };
}

interface Payments {
  name: "mint" | "redeem";
  count: number;
}

/** Accepts payments of the organization at its rail. */
async function pay(payers: Service, { name, count }: Payments): Promise<void> {
  const client = new ServiceClient(payers.program.address, payers.apiKey);
  const serial = payers.nextSerial;
  payers.nextSerial += count;
  const calls = accountsOf(payers, count).map((account, index) =>
    client[name](payers.accountIds[account] ?? "", AMOUNT, `payment-${String(serial + index)}`, MPESA),
  );
  await Promise.all(calls);
  client.close();
}

/** All but the first account, whose list of transactions must show mints only. */
function accountsOf({ accountIds }: Service, count: number): number[] {
  return Array.from({ length: count }, (_, index) => 1 + (index % (accountIds.length - 1)));
}

/** Resolves once no transaction of the organization has one of these statuses. */
async function noneHas({ program, apiKey }: Service, statuses: TransactionStatus[]): Promise<void> {
  const client = new ServiceClient(program.address, apiKey);
  while (await client.hasAny(statuses)) await sleep(POLL_MILLIS);
  client.close();
}
