import type { Logger } from "pino";

import type { UnixMillis } from "../domain/values/time.js";
import type { PaymentRail } from "../rails/rail.js";
import { type RailDependencies, WrongRailAccountError } from "../rails/rail-kind.js";
import { railOf } from "../rails/rails.js";
import type { Cell } from "../storage/database.js";
import { RailAccountDirectory } from "../storage/rails/rail-account-directory.js";
import { ChangedRailAccountError, openCredentials, type StoredRailAccount } from "../storage/rails/rail-accounts.js";
import { type CallbackSecrets, type CallbackSettings, callbackUrls } from "./callbacks.js";
import { failureFacts, failureLog } from "./failure-facts.js";

/** Where rails call back, and what the tokens in these addresses are made with. */
export interface Callbacks {
  readonly settings: CallbackSettings;
  readonly secrets: CallbackSecrets;
}

interface RailAccountsOptions {
  /** Undefined if the service has no address for callbacks. Then M-Pesa cannot be used. */
  readonly callbacks: Callbacks | undefined;
  readonly hosts: readonly string[];
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

/** Returns the accounts at rails of a cell. The caller starts and stops them. */
export function railAccountsOf(
  cell: Cell,
  { callbacks, hosts, now, logger }: RailAccountsOptions,
): RailAccountDirectory {
  const callbackUrl =
    callbacks === undefined ? undefined : callbackUrls(callbacks.settings, callbacks.secrets, cell.number);
  const monotonicMillis = (): number => performance.now();
  const factsOf = ({ id, organizationId, rail }: StoredRailAccount): object => ({
    cell: cell.number,
    organization_id: organizationId,
    rail,
    rail_account_id: id,
  });
  return new RailAccountDirectory(cell, {
    now,
    railOf: (account) => railOf(account, { callbackUrl, hosts, now, monotonicMillis }),
    onReadError: failureLog(logger, cell.number, "the accounts at rails could not be read"),
    onUnusable: (account, error) => {
      logger.error({ ...factsOf(account), ...failureFacts(error) }, "an account at a rail cannot be used");
    },
    onExpiring: (account, expireAt) => {
      const facts = { ...factsOf(account), expire_at: new Date(expireAt).toISOString() };
      logger.warn(facts, "the credentials of an account at a rail expire soon, or have expired");
    },
  });
}

type RailsCell = Pick<Cell, "directory"> & { readonly reader: Pick<Cell["reader"], "rows"> };

/**
 * Opens a stored account as a server does. Calls no rail. Throws a WrongRailAccountError if a
 * server cannot use the account.
 */
export async function openRail(
  { directory, reader }: RailsCell,
  account: StoredRailAccount,
  dependencies: Omit<RailDependencies, "monotonicMillis">,
): Promise<PaymentRail> {
  const { organizationId, credentials: sealed } = account;
  const [book] = await directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
  if (book === undefined) throw new WrongRailAccountError(["Its organization has no book. Run: kesc verify"]);
  try {
    if (!account.isWhole) throw new ChangedRailAccountError(account);
    const credentials = sealed && openCredentials(book.keys, account, sealed);
    return railOf({ ...account, credentials }, { ...dependencies, monotonicMillis: () => performance.now() });
  } catch (error) {
    throw error instanceof ChangedRailAccountError ? new WrongRailAccountError([error.message]) : error;
  }
}
