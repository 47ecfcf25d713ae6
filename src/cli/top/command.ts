import { setTimeout as sleep } from "node:timers/promises";

import { type Command, Option } from "commander";

import { invocation } from "../../startup/invocation.js";
import { OperatorError } from "../../startup/operator-error.js";
import { durationMillis } from "../commands/arguments.js";
import { printJson, printLine } from "../commands/output.js";
import { hasColours } from "../terminal.js";
import { readingOf } from "./reading.js";
import { Scrape } from "./scrape.js";
import { linesOf } from "./screen.js";

const DEFAULT_ADDRESS = "127.0.0.1:9464";
const DEFAULT_INTERVAL_MILLIS = 2_000;
const TIMEOUT_MILLIS = 5_000;
const HOME_AND_CLEAR = "\u001B[H\u001B[J";

const HELP = `
The command reads the metrics of a server (KESC_ADMIN_ADDRESS, docs/metrics.md) and shows what happened between two
looks, until it is interrupted.`;

interface TopOptions {
  readonly address?: string;
  readonly interval: number;
  readonly once?: true;
  readonly json?: true;
}

/** `kesc top`: what a server does now. */
export function addTop(program: Command): void {
  program
    .command("top")
    .description("show what a server does now: calls, commits, queue, money and what lags")
    .option(
      "--address <host:port>",
      `where the server has its metrics (default: KESC_ADMIN_ADDRESS, ${DEFAULT_ADDRESS})`,
    )
    .addOption(
      new Option("--interval <time>", "the time between two looks")
        .argParser(durationMillis)
        .default(DEFAULT_INTERVAL_MILLIS, "2s"),
    )
    .option("--once", "show one look, and end")
    .option("--json", "print one JSON object on each line, for scripts")
    .addHelpText("after", HELP)
    .action(top);
}

async function top(options: TopOptions): Promise<void> {
  const address = options.address ?? invocation().env["KESC_ADMIN_ADDRESS"] ?? DEFAULT_ADDRESS;
  const isScreen = invocation().stdout.isTTY === true && options.once !== true && options.json !== true;
  let before = await scrapeOf(address);
  do {
    await sleep(options.interval);
    const after = await scrapeOf(address);
    const reading = readingOf(before, after);
    before = after;
    if (options.json === true) printJson(reading);
    else {
      const lines = linesOf(reading, {
        address,
        colours: hasColours(invocation().stdout),
      });
      printLine((isScreen ? HOME_AND_CLEAR : "") + lines.join("\n"));
    }
  } while (options.once !== true);
}

async function scrapeOf(address: string): Promise<Scrape> {
  try {
    const response = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MILLIS) });
    if (!response.ok) throw new Error(`HTTP ${String(response.status)}`);
    return new Scrape(await response.text(), Date.now());
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new OperatorError(
      `There are no metrics at ${address}: ${why}. Start the server with KESC_ADMIN_ADDRESS=${DEFAULT_ADDRESS}, ` +
        "or say with --address where they are.",
      { cause: error },
    );
  }
}
