import { hash } from "node:crypto";

import { BANK_RAIL } from "../../domain/transaction.js";
import { railKind, type ReadSettings } from "../rail-kind.js";
import { BankRail } from "./bank.js";
import { type BankSettings, SETTINGS } from "./settings.js";

const SHOWN_DIGITS = 16;

/** A bank that pays the files which persons bring it. Nothing is called over the network. */
export const BANK = railKind({
  name: BANK_RAIL,
  settings: SETTINGS,
  refusals: () => [],
  read,
  open: ({ settings }) => new BankRail(settings),
});

/** Returns the number of the account that pays from the place. Undefined if no account does. */
export function accountAtPlace(place: string, settings: string | undefined): string | undefined {
  const facts = settings === undefined ? undefined : BANK.read(settings)?.facts;
  return facts?.["place"] === place ? facts["account"] : undefined;
}

/**
 * While payments are in a file, neither the account nor anything that the file says may change: the
 * file is made again for each download.
 */
function read(settings: BankSettings): ReadSettings {
  const { place, bankCode, branchCode, account, holder, bic, customerId, form, columns } = settings;
  const said = JSON.stringify([branchCode, holder, bic, customerId, form, columns]);
  const content = hash("sha256", said, "hex").slice(0, SHOWN_DIGITS);
  const name = `account ${account} at the bank ${bankCode}`;
  return {
    places: [name, `form ${content} of files of the ${name}`],
    numbers: [account],
    facts: { place, bank: `${bankCode}${branchCode}`, account, form },
  };
}
