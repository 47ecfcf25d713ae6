import type { PhoneNumber } from "../../domain/values/phone-number.js";
import { callbackUrls, readCallbackSecrets } from "../../startup/callbacks.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { printLine } from "../commands/output.js";
import { findOwner } from "../organizations.js";
import { openMpesa } from "./open-mpesa.js";

const WRONG_USAGE = 2;
const MILLIS_MAX = 60_000;

/** Registers an organization's shortcode for Pull Transactions. A second time changes nothing. */
export async function registerPull({ org, contact }: { org: string; contact: PhoneNumber }): Promise<void> {
  const { database: address, callbacks } = configFromEnvironment();
  if (callbacks === undefined) {
    throw new OperatorError(
      "The registration names the address of callbacks: set KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE, as for a server.",
      WRONG_USAGE,
    );
  }
  const secrets = readCallbackSecrets(callbacks);
  await withCurrentDatabase(address, async (database) => {
    const owner = await findOwner(database, org);
    const rail = await openMpesa(owner, callbackUrls(callbacks, secrets, owner.cell.number));
    const failure = await rail.registerForReceivedPayments(contact, AbortSignal.timeout(MILLIS_MAX));
    if (failure !== undefined) throw new OperatorError(`M-Pesa did not register the shortcode: ${failure}.`);
    const { id, name } = owner.organization;
    printLine(`The shortcode of ${id} ("${name}") is registered for Pull Transactions.`);
    printLine("To compare what came in with the book: kesc reconcile mpesa --pull --org ORG");
  });
}
