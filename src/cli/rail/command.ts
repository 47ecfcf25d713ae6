import { Argument, type Command } from "commander";

import { RAILS } from "../../rails/rails.js";
import { amountOrZero, day, durationMillis, phoneNumber, statusReason } from "../commands/arguments.js";
import { changePayouts } from "./payouts.js";
import { registerPull } from "./register-pull.js";
import { setRail } from "./set.js";

/** Adds the commands of `kesc rail` that no row of the table serves. */
export function addRail(rail: Command): void {
  rail
    .command("set")
    .description("set an organization's account at a rail; direct: use no rail, and keep the accounts")
    .addArgument(new Argument("<rail>", "name of the rail").choices([...RAILS.map(({ name }) => name), "direct"]))
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--default", "calls that name no rail use this one")
    .option("--settings <file>", "JSON file with everything but secrets, for a rail that has some")
    .option("--credentials <file>", "JSON file with the secrets, which only its owner may read")
    .option("--credentials-expire <day>", "day on which the secrets expire", day)
    .option("--begin-within <duration>", "a mint that is not begun in this time fails (default: 2m)", durationMillis)
    .option(
      "--confirm-above <amount>",
      "a success above it is booked only after a query; up to it, the path of a callback alone can book one (default: 0)",
      amountOrZero,
    )
    .option("--resolve-alone-max <amount>", "up to it one operator resolves alone (default: 0)", amountOrZero)
    .option("--json", "print JSON, for scripts")
    .action(setRail);
  rail
    .command("register-pull")
    .description("register the account at the rail for kesc reconcile --pull; once is enough")
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--rail <rail>", "name of the rail")
    .requiredOption("--contact <phone>", "phone number that the rail notes as the contact", phoneNumber)
    .action(registerPull);
  for (const [name, payouts, description] of [
    ["open", "open", "begin payouts, whatever is unknown about earlier ones"],
    ["close", "closed", "begin no payout; redemptions are accepted and wait"],
    ["auto", "auto", "begin payouts, unless too many outcomes are unknown"],
  ] as const) {
    rail
      .command(name)
      .description(description)
      .requiredOption("--org <organization>", "id or name of the organization")
      .requiredOption("--rail <rail>", "name of the rail")
      .option("--reason <text>", "reason, which kesc rail status shows", statusReason)
      .action((options: Omit<Parameters<typeof changePayouts>[0], "payouts">) =>
        changePayouts({ ...options, payouts }),
      );
  }
}
