import { type Command, InvalidArgumentError, Option } from "commander";

import { parseWebhookUrl, THIS_MACHINE } from "../../webhooks/allowed.js";
import { withSessionOptions } from "../call/options.js";
import { wholeNumber } from "../commands/arguments.js";
// The other commands start faster without the contract, so the action imports it.
import type { TailOptions } from "./follow.js";

const HELP = `
The command shows new events until it is interrupted. It reconnects by itself, and goes on after the last event: none is
lost, and none comes twice. docs/events.md lists the types. The API key needs the scope "events:read".

With --forward-to each event is POSTed as a webhook delivery, in order and one at a time. The secret that signs them
follows from the API key, and is printed first. An event without a status from 200 to 299 is printed as such, and not sent again.
A URL on this machine (localhost, 127.0.0.1) can be http and have any port. All others need https and the port 443.
Only a sandbox is forwarded: the events of real customers go to a webhook endpoint, and not to a laptop.`;

/** `kesc tail`: follows the events of an organization, over the API. */
export function addTail(program: Command): void {
  const command = program
    .command("tail")
    .alias("listen")
    .description("follow the events of an organization, over the API, or forward them to a URL; also: kesc listen")
    .option(
      "--after <sequence>",
      "begin after this event: 0 for all (default: now)",
      wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    )
    .option("--type <type>", "only events of this type; may be repeated", collected)
    .option("--account <id>", "only events about this account and its transactions")
    .option("--json", "print one JSON object on each line, for scripts")
    .addOption(
      new Option("--forward-to <url>", "POST each event there as a signed webhook, and print what came of it")
        .argParser(forwardUrl)
        .conflicts("json"),
    )
    .addHelpText("after", HELP)
    .action(async (options: TailOptions) => {
      const { tail } = await import("./follow.js");
      await tail(options);
    });
  withSessionOptions(command);
}

function forwardUrl(text: string): string {
  const url = parseWebhookUrl(text, THIS_MACHINE);
  if (url.ok) return url.value;
  throw new InvalidArgumentError(`It ${url.problem}. On this machine http works, too: http://127.0.0.1:3000/hook.`);
}

function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
