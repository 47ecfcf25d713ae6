import type { Rail } from "../../domain/transaction.js";
import { type RailDependencies, WrongRailAccountError } from "../../rails/accounts/rail-account.js";
import { MpesaRail } from "../../rails/mpesa/mpesa.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { OperatorError } from "../../startup/operator-error.js";
import { openRail } from "../../startup/rails.js";
import { storedRailAccounts } from "../../storage/rails/rail-accounts.js";
import type { Owner } from "../organizations.js";

export const MPESA = "mpesa" as Rail;

/**
 * Opens the stored account of an organization at M-Pesa, with its decrypted credentials. Without
 * `callbackUrl` it serves only requests that M-Pesa answers at once.
 *
 * Throws an OperatorError if there is no account, or if it cannot be used.
 */
export async function openMpesa(
  { organization: { id, name }, cell }: Owner,
  callbackUrl: NonNullable<RailDependencies["callbackUrl"]> = () => "",
): Promise<MpesaRail> {
  const stored = await storedRailAccounts(cell);
  const account = stored.find(({ organizationId, rail }) => organizationId === id && rail === MPESA);
  if (account === undefined) {
    throw new OperatorError(`${id} ("${name}") has no account at M-Pesa. To set one: kesc rail set mpesa --help`);
  }
  try {
    const rail = await openRail(cell, account, { callbackUrl, hosts: configFromEnvironment().railHosts, now });
    if (!(rail instanceof MpesaRail)) throw new Error(`${account.id} is no account at M-Pesa`);
    return rail;
  } catch (error) {
    if (!(error instanceof WrongRailAccountError)) throw error;
    throw new OperatorError(`The account ${account.id} cannot be used:\n${error.message}`);
  }
}
