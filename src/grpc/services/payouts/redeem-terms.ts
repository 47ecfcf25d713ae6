import type { RailTerms } from "../../../domain/payment.js";
import type { Rail } from "../../../domain/transaction.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import type { RailAccounts } from "../../../settlement/ports/rail-accounts.js";

/** Returns how an organization's account at a rail pays out. Undefined if it cannot be used. */
export function redeemTermsOf(
  railAccounts: Pick<RailAccounts, "accountOf">,
  {
    organizationId,
    rail,
    phoneCoolingMillis,
  }: { readonly organizationId: OrganizationId; readonly rail: Rail; readonly phoneCoolingMillis: number },
): RailTerms | undefined {
  const account = railAccounts.accountOf(organizationId, rail);
  if (account === undefined) return undefined;
  const { phoneNumbers, destinations = {}, ...payable } = account.rail.capabilities("REDEEM");
  const { id: railAccountId } = account;
  return { railAccountId, payable, phoneNumbers, payerPhoneNumber: undefined, phoneCoolingMillis, destinations };
}
