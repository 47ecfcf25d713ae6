import type { Command } from "commander";

import { parsePhoneNumber, type PhoneNumber } from "../../domain/values/phone-number.js";
import { toldCodeOf, wordsOf } from "../../rails/told-code.js";
import { callbackUrls, readCallbackSecrets } from "../../startup/callbacks.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { argument } from "../commands/arguments.js";
import { printLine } from "../commands/output.js";
import { findOwner } from "../organizations.js";
import { openAccount } from "./open-account.js";

const MILLIS_MAX = 60_000;

/** Adds the commands of `kesc rail` that no row of the table serves. */
export function addRail(rail: Command): void {
  rail
    .command("register-pull")
    .description("register the account at the rail for kesc reconcile --pull; once is enough")
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--rail <rail>", "name of the rail")
    .requiredOption("--contact <phone>", "phone number that the rail notes as the contact", argument(parsePhoneNumber))
    .action(registerPull);
}

interface RegisterOptions {
  readonly org: string;
  readonly rail: string;
  readonly contact: PhoneNumber;
}

/** Registers an organization's account for lists of what came in. A second time changes nothing. */
async function registerPull({ org, rail: name, contact }: RegisterOptions): Promise<void> {
  const { database: address, callbacks } = configFromEnvironment();
  if (callbacks === undefined) {
    throw new UsageError(
      "The registration names the address of callbacks: set KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE, as for a server.",
    );
  }
  const secrets = readCallbackSecrets(callbacks);
  await withCurrentDatabase(address, async (database) => {
    const owner = await findOwner(database, org);
    const rail = await openAccount(owner, name, callbackUrls(callbacks, secrets, owner.cell.number));
    if (rail.registerForReceivedPayments === undefined) {
      throw new UsageError(`The rail ${name} wants no registration.`);
    }
    const failure = await rail.registerForReceivedPayments(contact, AbortSignal.timeout(MILLIS_MAX));
    if (failure !== undefined) {
      const words = wordsOf(rail, toldCodeOf(failure));
      throw new OperatorError(
        `The rail ${name} did not register the account: ${words}. Nothing has changed here. ` +
          `Repeat the command once the rail takes it: kesc rail probe ${name} --org ORG`,
      );
    }
    const { organization } = owner;
    printLine(`The account of ${organization.id} ("${organization.name}") is registered for kesc reconcile --pull.`);
    printLine(`To compare what came in with the book: kesc reconcile ${name} --pull --org ORG`);
  });
}
