import type { Book } from "../decision.js";
import type { DepositReference } from "../values/deposit-reference.js";
import type { OrganizationId } from "../values/ids.js";

/** Returns the first of the references that no account has. Undefined if all are taken. */
export function freeReference(
  book: Book,
  {
    organizationId,
    depositReferences,
  }: { readonly organizationId: OrganizationId; readonly depositReferences: readonly DepositReference[] },
): DepositReference | undefined {
  return depositReferences.find((name) => book.accountWithDepositReference(organizationId, name) === undefined);
}
