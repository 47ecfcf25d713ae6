/**
 * `make cells`: mints a second of bare committers on PostgreSQL, with one cell and with several,
 * measured in turn. The answer to each COMMIT is delayed, as by a synchronous standby.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { now } from "../src/startup/clock.js";
import { type Database, openDatabase } from "../src/storage/database.js";
import { keys } from "../src/storage/keys.js";
import { BATCH, CellLoad } from "./full/cell-load.js";
import { slowCommits } from "./full/slow-commits.js";
import { query } from "./full/sql-ledger.js";
import { commandLine, kescAt, REPOSITORY, wholeNumberOf } from "./options.js";
import { median } from "./report/figures.js";
import { tableOf } from "./report/table.js";
import { runKesc } from "./servers/service.js";

const USAGE = `node dist/bench/cells.js [options], with the URL of a PostgreSQL server in POSTGRES_URL
  --cells <n>    compare one cell with this many (4)
  --pairs <n>    measure each this many times, in turn (11)
  --delay <ms>   delay of the answer to COMMIT in milliseconds (5)
  --batches <n>  batches of each committer in one measurement (40)`;

const options = commandLine(USAGE, () => {
  const { values } = parseArgs({
    options: {
      cells: { type: "string", default: "4" },
      pairs: { type: "string", default: "11" },
      delay: { type: "string", default: "5" },
      batches: { type: "string", default: "40" },
    },
  });
  const url = process.env["POSTGRES_URL"];
  if (url === undefined) throw new Error("POSTGRES_URL is not set");
  return {
    url: new URL(url),
    cells: wholeNumberOf("--cells", values.cells, { min: 2, max: 64 }),
    pairs: wholeNumberOf("--pairs", values.pairs, { min: 1, max: 1_000 }),
    delay: wholeNumberOf("--delay", values.delay, { min: 0, max: 1_000 }),
    batches: wholeNumberOf("--batches", values.batches, { min: 1, max: 10_000 }),
  };
});

const folder = mkdtempSync(join(tmpdir(), "kesc-cells-"));
const masterKeyFile = join(folder, "master.key");
const forwarder = await slowCommits(Number(options.url.port), options.delay);
try {
  const one = await open(1);
  const several = await open(options.cells);
  for (const { committers } of [one, several]) await rateOf(committers);
  const rates = { one: [] as number[], several: [] as number[] };
  for (let pair = 0; pair < options.pairs; pair++) {
    const order = pair % 2 === 0 ? (["one", "several"] as const) : (["several", "one"] as const);
    for (const name of order) rates[name].push(await rateOf((name === "one" ? one : several).committers));
  }
  for (const { database } of [one, several]) await database.close();
  print(rates);
} finally {
  forwarder.stop();
  rmSync(folder, { recursive: true, force: true });
}

interface Opened {
  readonly database: Database;
  readonly committers: readonly CellLoad[];
}

/** Creates a database with this number of cells, each with an organization and its accounts. */
async function open(cells: number): Promise<Opened> {
  const name = `cells_${String(cells)}_${String(Date.now())}`;
  await query(options.url.href, `CREATE DATABASE ${name}`);
  const direct = Object.assign(new URL(options.url), { pathname: `/${name}` });
  const variables = { DATABASE_URL: direct.href, KESC_MASTER_KEY_FILE: masterKeyFile };
  await runKesc(kescAt(REPOSITORY), ["migrate", "--cells", String(cells)], variables);
  const url = Object.assign(new URL(direct), { port: String(forwarder.port) }).href;
  const database = await openDatabase({ engine: "postgres", url, connectionsMax: cells + 2, masterKeyFile });
  const committers: CellLoad[] = [];
  for (const cell of database.cells) {
    const { id } = await keys(database, now).createOrganization("bench", { cell: cell.number });
    committers.push(await CellLoad.open(cell, id));
  }
  return { database, committers };
}

/** Mints a second of all committers together, each on its own cell. */
async function rateOf(committers: readonly CellLoad[]): Promise<number> {
  const from = performance.now();
  await Promise.all(committers.map((load) => load.mint(options.batches)));
  return (committers.length * options.batches * BATCH * 1_000) / (performance.now() - from);
}

function print({ one, several }: { one: readonly number[]; several: readonly number[] }): void {
  const ratios = several.map((rate, pair) => rate / (one[pair] ?? NaN));
  const figures = (name: string, values: readonly number[], digits: number): string[] =>
    [name, median([...values]), Math.min(...values), Math.max(...values)].map((value) =>
      typeof value === "number" ? value.toFixed(digits) : value,
    );
  const cells = `${String(options.cells)} cells`;
  process.stdout.write(
    `bare committers, batches of ${String(BATCH)}, COMMIT delayed by ${String(options.delay)} ms, ` +
      `${String(options.pairs)} pairs in turn\n\n` +
      `${tableOf([
        ["", "median", "min", "max"],
        figures("one cell, mints/s", one, 0),
        figures(`${cells}, mints/s`, several, 0),
        figures(`${cells} ÷ one`, ratios, 2),
      ])}\n`,
  );
}
