import type { Command } from "commander";

import { withSessionOptions } from "../call/options.js";
import { wholeNumber } from "../commands/arguments.js";
// The other commands start faster without the contract, so the action imports it.
import type { TailOptions } from "./follow.js";

const HELP = `
The command shows new events until it is interrupted. It reconnects by itself, and goes on after the last event: none is
lost, and none comes twice. docs/events.md lists the types. The API key needs the scope "events:read".`;

/** `kesc tail`: follows the events of an organization, over the API. */
export function addTail(program: Command): void {
  const command = program
    .command("tail")
    .description("follow the events of an organization, over the API")
    .option(
      "--after <sequence>",
      "begin after this event: 0 for all (default: now)",
      wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    )
    .option("--type <type>", "only events of this type; may be repeated", collected)
    .option("--account <id>", "only events about this account and its transactions")
    .option("--json", "print one JSON object on each line, for scripts")
    .addHelpText("after", HELP)
    .action(async (options: TailOptions) => {
      const { tail } = await import("./follow.js");
      await tail(options);
    });
  withSessionOptions(command);
}

function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
