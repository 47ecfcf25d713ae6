import type { PaymentRail } from "../../rails/rail.js";
import { type CallbackUrl, WrongRailAccountError } from "../../rails/rail-kind.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { OperatorError } from "../../startup/operator-error.js";
import { openRail } from "../../startup/rails.js";
import { storedRailAccount } from "../../storage/rails/rail-accounts.js";
import type { FoundOwner } from "../organizations.js";

/**
 * Opens the stored account of an organization at a rail, with its decrypted credentials. Without
 * `callbackUrl` it serves only requests that the rail answers at once.
 *
 * Throws an OperatorError if there is no account, or if it cannot be used.
 */
export async function openAccount(
  { organization: { id, name }, cell }: FoundOwner,
  railName: string,
  callbackUrl: CallbackUrl = () => "",
): Promise<PaymentRail> {
  const account = await storedRailAccount(cell, id, railName);
  if (account === undefined) {
    throw new OperatorError(
      `${id} ("${name}") has no account at the rail ${railName}. To set one: kesc rail set ${railName} --help`,
    );
  }
  try {
    return await openRail(cell, account, { callbackUrl, hosts: configFromEnvironment().railHosts, now });
  } catch (error) {
    if (!(error instanceof WrongRailAccountError)) throw error;
    throw new OperatorError(`The account ${account.id} cannot be used:\n${error.message}`);
  }
}
