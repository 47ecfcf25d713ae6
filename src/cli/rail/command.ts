import type { Command } from "commander";

import { phoneNumber } from "../commands/arguments.js";
import { registerPull } from "./register-pull.js";

/** Adds the commands of `kesc rail` that no row of the table serves. */
export function addRail(rail: Command): void {
  rail
    .command("register-pull")
    .description("register the account at the rail for kesc reconcile --pull; once is enough")
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--rail <rail>", "name of the rail")
    .requiredOption("--contact <phone>", "phone number that the rail notes as the contact", phoneNumber)
    .action(registerPull);
}
