/**
 * `make chaos`: kills the service and its database under load, again and again, and counts the
 * effects that are lost or doubled.
 */
import { takeDownAll } from "../../support/at-the-end.js";
import { optionsOrUsage } from "../command-line.js";
import { Random } from "../random.js";
import { crashPostgres, crashSqlite } from "./crash.js";
import { failover } from "./failover.js";
import { type Options, readOptions, type ScenarioName, USAGE } from "./options.js";
import { type Failover, problemsIn, type Result, violationsIn } from "./result.js";

const KILLS = { sqlite: 20, postgres: 20, cells: 20, failover: 3 } as const satisfies Record<ScenarioName, number>;
const CELLS = 4;
const PROBLEMS_SHOWN_MAX = 20;

async function main(options: Options): Promise<void> {
  print(`seed ${String(options.seed)}`);
  for (const name of options.scenarios) {
    const results = await run(name, options);
    print(`\n${name}`);
    for (const line of linesOn(results)) print(`  ${line}`);
    const problems = results.flatMap(problemsIn);
    for (const problem of problems.slice(0, PROBLEMS_SHOWN_MAX)) print(`  ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
}

async function run(name: ScenarioName, { kills = KILLS[name], seconds, seed }: Options): Promise<readonly Result[]> {
  const random = new Random(seed);
  if (name === "sqlite") return [await crashSqlite({ kills, seconds, random })];
  if (name === "postgres") return [await crashPostgres({ kills, seconds, random, cells: 1 })];
  if (name === "cells") return [await crashPostgres({ kills, seconds, random, cells: CELLS })];
  const results: Result[] = [];
  const deadline = performance.now() + seconds * 1_000;
  while (results.length < kills && performance.now() < deadline) {
    // Every third failover is silent, beginning with the second: it lasts as long as a query may.
    results.push(await failover({ random, silent: results.length % 3 === 1 }));
  }
  return results;
}

function linesOn(results: readonly Result[]): readonly string[] {
  const clients = results.flatMap((result) => result.clients);
  const audits = results.flatMap((result) => result.audits);
  const readers = results.flatMap((result) => result.readers);
  const checked = sumOf(audits, (audit) => audit.checked);
  const lost = sumOf(audits, (audit) => audit.lost.length);
  const failovers = results.flatMap(({ failover: times }) => (times === undefined ? [] : [times]));
  return [
    `kills ${killsWords(results.flatMap(({ kills }) => kills))}`,
    `commands ${String(sumOf(clients, ({ acknowledged }) => acknowledged.length))}, ` +
      `sent again ${String(sumOf(clients, ({ retries }) => retries))} times`,
    `acknowledged effects checked ${String(checked)}: found ${percentOf(checked - lost, checked)}, lost ${String(lost)}, ` +
      `doubled ${String(sumOf(audits, ({ doubled }) => doubled.length))}`,
    `wrong balances ${String(sumOf(audits, ({ wrong }) => wrong.length))}, ` +
      `databases that kesc verify rejects ${String(sumOf(results, ({ wrongBooks }) => wrongBooks.length))}`,
    `looks at books ${String(sumOf(readers, ({ polls }) => polls))}, which found ` +
      `${String(sumOf(readers, ({ rows }) => rows))} rows; not a prefix ` +
      String(sumOf(readers, ({ violations }) => violations.length)),
    `answers that no client may get ${String(sumOf(results, (result) => violationsIn(result).length))}`,
    ...failovers.map(failoverWords),
  ];
}

function sumOf<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0);
}

function killsWords(kills: readonly string[]): string {
  const counts = [...new Set(kills)].map((what) => `${what} ${String(kills.filter((each) => each === what).length)}`);
  return `${String(kills.length)}: ${counts.join(", ")}`;
}

function failoverWords({ silent, millisToPromotion, millisToGoodAnswer }: Failover): string {
  return (
    `primary ${silent ? "gone without a word" : "killed"}: promoted after ${secondsOf(millisToPromotion)} s, ` +
    `first good answer after ${secondsOf(millisToGoodAnswer)} s`
  );
}

function percentOf(part: number, whole: number): string {
  return whole === 0 ? "none" : `${String((part / whole) * 100)} %`;
}

function secondsOf(millis: number): string {
  return (millis / 1_000).toFixed(2);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Takes the servers down when the program is stopped half-way. */
function stopOn(signal: NodeJS.Signals): void {
  process.once(signal, () => void takeDownAll().finally(() => process.exit(1)));
}

const options = optionsOrUsage(readOptions, USAGE);
if (options !== undefined) {
  stopOn("SIGINT");
  stopOn("SIGTERM");
  try {
    await main(options);
  } catch (error) {
    print(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exitCode = 1;
  } finally {
    await takeDownAll();
  }
}
