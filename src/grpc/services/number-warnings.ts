import type { OrganizationId } from "../../domain/values/ids.js";
import type { PhoneNumber } from "../../domain/values/phone-number.js";
import { NumberWarning } from "../../gen/kesc/v1/payment.js";
import type { RailAccount } from "../../settlement/ports/rail-accounts.js";
import type { CellRails } from "./served-cell.js";

/** Returns what may go wrong with a number at the rails of the organization. */
export function numberWarnings(
  { railAccounts }: Pick<CellRails, "railAccounts">,
  organizationId: OrganizationId,
  number: PhoneNumber | undefined,
): NumberWarning[] {
  return warningsOf(railAccounts.accountsOf(organizationId), number);
}

/** Returns what may go wrong with a number at the rails of these accounts. */
export function warningsOf(
  accounts: readonly Pick<RailAccount, "rail">[],
  number: PhoneNumber | undefined,
): NumberWarning[] {
  const isDoubted = number !== undefined && accounts.some(({ rail }) => rail.doubtsNumber?.(number) === true);
  return isDoubted ? [NumberWarning.NUMBER_WARNING_OTHER_NETWORK] : [];
}
