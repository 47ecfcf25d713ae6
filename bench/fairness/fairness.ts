import { setTimeout as sleep } from "node:timers/promises";

import { enginesOf } from "../full/engines.js";
import type { LoadResult } from "../load/job.js";
import type { Options } from "../options.js";
import { callbackSettings } from "../rails/rail-account.js";
import { setStub } from "../rails/stub-settings.js";
import { median, sum } from "../report/figures.js";
import { type Figure, type Findings, ratioFigure } from "../report/report.js";
import { type Bound, ratioOf, type Sample, type Series } from "../report/series.js";
import { inDatabase, organizationOf } from "../servers/in-database.js";
import { type Measured, measuredLoad } from "../servers/measured-load.js";
import { residentMebibytes } from "../servers/process-stats.js";
import { freePort, type Program, stop } from "../servers/programs.js";
import { newTenant, problemsInBooks, type Service } from "../servers/service.js";
import { progress, type Stage } from "../stage.js";
import type { HostileJob } from "./attack.js";
import { fill, manyKeys, rejectPoison } from "./given.js";
import { closeThisMonth, hostileOperator, hostilePerson } from "./operator-given.js";
import { type AttackName, type Row, rowsNamed } from "./rows.js";
import { NO_PAYMENTS, slowPayments } from "./slow-payments.js";

const HOSTILE_ACCOUNTS = 1_000;
const OTHERS_IN_FLIGHT = 100;
/** An attack needs some seconds until all its calls are in flight. */
const RAMP_SECONDS = 4;
/** That of operators has few calls. */
const OPERATOR_RAMP_SECONDS = 1;
/** What an rpc of operators must leave of what the cheapest one leaves (docs/fairness.md). */
const OPERATOR_BOUND: Bound = { rateMin: 0.6, p99Max: 5 };
const OPERATOR_TRANSACTIONS = 2_000;
const WARM_UP_SECONDS = 3;
const PAUSE_MILLIS = 2_000;
const PROBE_MILLIS = 100;
const SLOW_RAIL_MILLIS = 5_000;
/** Attacks that need other keys than that of the organization's mints. */
const NEED_KEYS: readonly string[] = ["keys", "rest-streams", "exports", "events-and-mints", "webhook-changes"];

/** A service with an organization that behaves and a hostile one. */
interface Given {
  engine: string;
  others: Service;
  gateway: Program;
  hostile: Omit<HostileJob, "attack">;
}

/**
 * The part `fairness`: what the worst callers take from the mints of another organization. Each
 * attack and the peace before it are measured in turn. PostgreSQL takes part if its URL is in
 * POSTGRES_URL.
 */
export async function fairness(stage: Stage, options: Options): Promise<Findings> {
  const rows = rowsNamed(options.rows);
  const findings: Findings = {
    settings: { rounds: options.rounds, seconds: options.seconds, transactions: options.transactions },
    series: [],
    figures: [],
  };
  for (const { name: engine, newDatabase } of enginesOf(options)) {
    const databaseUrl = await newDatabase("fairness");
    const given = await prepare(stage, { engine, databaseUrl, rows, transactions: options.transactions });
    for (const row of rows) {
      const { series, figures } = await measure(stage, given, { row, options });
      findings.series.push(...series);
      findings.figures.push(...figures);
    }
    for (const problem of await problemsInBooks(given.others)) stage.blame(problem);
    await stop(given.gateway);
    await stop(given.others.program);
  }
  return findings;
}

async function prepare(stage: Stage, { engine, databaseUrl, rows, transactions }: PrepareOptions): Promise<Given> {
  const stub = await stage.startOwn("daraja-stub", "rails/daraja-stub.js");
  await setStub(stub, { delayMillis: SLOW_RAIL_MILLIS, accepts: true, gatewayAddress: "" });
  const { env, secret } = callbackSettings(stage.folder);
  const operators = `127.0.0.1:${String(await freePort())}`;
  const hasOperators = rows.some(({ yardstick }) => yardstick !== undefined);
  const ofOperators = hasOperators
    ? { KESC_OPERATOR_ADDRESS: operators, KESC_CONSOLE_ORIGIN: "http://localhost:8090" }
    : {};
  const others = await stage.startService(`fair-${engine}`, {
    env: { ...env, ...ofOperators },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  const hostile = await newTenant(others, HOSTILE_ACCOUNTS);
  await stop(others.program);
  const { keys, person, organizationId, ...payment } = await inDatabase(others, async (database) => {
    const organizationId = await organizationOf(database, hostile.apiKey);
    const [cell] = database.cells;
    const filled = rows.some((row) => row.filled) ? transactions : hasOperators ? OPERATOR_TRANSACTIONS : 0;
    await fill(cell, organizationId, { transactions: filled, accountIds: hostile.accountIds });
    if (rows.some(({ attack }) => attack === "poison")) await rejectPoison(cell);
    const keys = rows.some(({ attack }) => NEED_KEYS.includes(attack)) ? await manyKeys(database, organizationId) : [];
    const { accountIds } = hostile;
    // A payment that is open is work for the settlement in all rows.
    const payment = rows.some(({ rail }) => rail)
      ? await slowPayments(database, { organizationId, accountIds, stubAddress: stub.address, secret })
      : NO_PAYMENTS;
    const person = hasOperators ? await hostilePerson(database) : undefined;
    if (hasOperators) await closeThisMonth(database, organizationId);
    return { keys, person, organizationId, ...payment };
  });
  others.program = await stage.startServer(others, `fair-${engine}`);
  const gateway = await stage.startGateway(others);
  const tenant = { hostile: { ...hostile, program: others.program }, organizationId };
  return {
    engine,
    others,
    gateway,
    hostile: {
      grpcAddress: others.program.address,
      httpAddress: gateway.address,
      keys: [hostile.apiKey, ...keys],
      accountIds: hostile.accountIds,
      ...payment,
      kesc: others.kesc,
      databaseUrl: others.databaseUrl,
      operator: person && (await hostileOperator(operators, person, tenant)),
    },
  };
}

interface PrepareOptions {
  engine: string;
  databaseUrl: string | undefined;
  rows: readonly Row[];
  transactions: number;
}

async function measure(
  stage: Stage,
  given: Given,
  { row, options }: { row: Row; options: Options },
): Promise<Pick<Findings, "series" | "figures">> {
  const name = `${row.attack}, ${given.engine}`;
  const peace: Series = { name: `${name}: peace`, yardstick: null, samples: [] };
  const bound = row.yardstick === undefined ? {} : { bound: OPERATOR_BOUND };
  const attack: Series = { name, yardstick: peace.name, ...bound, samples: [] };
  const seen = { refused: 0, notReady: 0, pageMillis: [] as number[], answers: {} as Record<string, number> };
  await load(stage, given, { row, seconds: WARM_UP_SECONDS });
  const memoryBefore = residentMebibytes(given.others.program.process.pid);
  let memoryMost = 0;
  for (let round = 1; round <= options.rounds; round++) {
    progress(`${name}: round ${String(round)} of ${String(options.rounds)}`);
    const before = await beside(stage, given, { row, attack: row.yardstick, seconds: options.seconds });
    peace.samples.push(before.result);
    const { result, notReady, report } = await beside(stage, given, {
      row,
      attack: row.attack,
      seconds: options.seconds,
    });
    memoryMost = Math.max(memoryMost, residentMebibytes(given.others.program.process.pid));
    attack.samples.push(result);
    seen.refused += sum(Object.values(result.problems));
    seen.notReady += notReady;
    seen.pageMillis.push(report?.p99Millis ?? NaN);
    seen.answers = { ...report?.problems, right: report?.callsInWindow ?? 0 };
    for (const [problem, count] of Object.entries(result.problems)) progress(`${name}: ${problem} (${String(count)})`);
    await sleep(PAUSE_MILLIS);
  }
  progress(`${name}: answers of the last round: ${JSON.stringify(seen.answers)}`);
  const figure = (what: string, value: number, unit = ""): Figure => ({
    name: `${name}: ${what}`,
    value: Math.round(value),
    unit,
  });
  return {
    series: [peace, attack],
    figures: [
      ratioFigure(`${name}: rate kept`, ratioOf(attack.samples, peace.samples, "callsPerSecond")),
      figure("p99 of others", median(attack.samples.map(({ p99Millis }) => p99Millis ?? NaN)), "ms"),
      ...(row.yardstick === undefined
        ? []
        : [ratioFigure(`${name}: p99 of others`, ratioOf(attack.samples, peace.samples, "p99Millis"))]),
      figure("calls of others refused", seen.refused),
      figure("probes of /readyz not 200", seen.notReady),
      figure("p99 of the attack's own answers", median(seen.pageMillis), "ms"),
      figure("memory of the server, more than before", memoryMost - memoryBefore, "MiB"),
    ],
  };
}

interface Beside {
  row: Row;
  /** Undefined: in peace. */
  attack: AttackName | undefined;
  seconds: number;
}

/** Measures the mints of the others while the hostile caller attacks. */
async function beside(
  stage: Stage,
  given: Given,
  { row, attack, seconds }: Beside,
): Promise<{ result: Measured & Sample; notReady: number; report: LoadResult | undefined }> {
  if (attack === undefined) {
    return { result: await load(stage, given, { row, seconds }), notReady: 0, report: undefined };
  }
  const hostile = await stage.startOwn("hostile", "fairness/hostile.js");
  hostile.process.send({ attack, ...given.hostile } satisfies HostileJob);
  await sleep((row.yardstick === undefined ? RAMP_SECONDS : OPERATOR_RAMP_SECONDS) * 1_000);
  const { result, notReady } = await whileProbing(given, load(stage, given, { row, seconds }));
  const report = await reportOf(hostile);
  await stop(hostile);
  return { result, notReady, report };
}

/** The mints of the organization that behaves. */
async function load(
  stage: Stage,
  { others, gateway }: Given,
  { row, seconds }: { row: Row; seconds: number },
): Promise<Measured & Sample> {
  const isRest = row.others === "rest";
  return measuredLoad(
    { loader: stage.loader, service: others, programs: [isRest ? gateway : others.program], booked: true },
    {
      transport: row.others,
      call: "mint",
      inFlight: OTHERS_IN_FLIGHT,
      connections: isRest ? OTHERS_IN_FLIGHT : 1,
      rampSeconds: 0.2,
      seconds,
    },
  );
}

/** Counts the probes of /readyz that fail until `during` settles. */
async function whileProbing<Result>(
  { gateway }: Given,
  during: Promise<Result>,
): Promise<{ result: Result; notReady: number }> {
  let notReady = 0;
  const over = new AbortController();
  const probing = (async () => {
    while (!over.signal.aborted) {
      const response = await fetch(`http://${gateway.address}/readyz`).catch(() => undefined);
      await response?.text();
      if (response?.status !== 200) notReady += 1;
      await sleep(PROBE_MILLIS);
    }
  })();
  const result = await during.finally(() => {
    over.abort();
  });
  await probing;
  return { result, notReady };
}

function reportOf({ process: child }: Program): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    child.once("exit", () => {
      reject(new Error("the hostile caller has ended"));
    });
    child.once("message", ({ result }: { result: LoadResult }) => {
      resolve(result);
    });
    child.send("report");
  });
}
