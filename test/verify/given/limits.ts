import { toCents } from "../../../src/domain/values/cents.js";
import { SLOW_RAIL } from "../../support/names.js";
import { revealAccount, setAccountTier, setLimits } from "../../support/operations/accounts.js";
import type { GivenBooks } from "./books.js";

/**
 * Limits, and one account that has used 5.00 of its mints and 1.00 of its redemptions. Three mints
 * do not count: one before the limits, a canceled one and a reversed one. Then somebody looks at
 * the personal data of the account.
 */
export async function makeLimits(books: GivenBooks): Promise<void> {
  const account = await books.createAccount("lina");
  await books.move("mint", account, "7.00");
  await books.do((id) => setLimits(id, { changes: { DAY: toCents(100_000) } }));
  await books.do((id) => setLimits(id, { tier: "small", changes: { MONTH: toCents(100_000) } }));
  await books.do((id) => setAccountTier(id, account.id));
  await books.move("mint", account, "5.00");
  await books.move("redeem", account, "1.00");
  await books.cancel(await books.move("mint", account, "2.00", { rail: SLOW_RAIL }), "not paid");
  await books.reverse(await books.move("mint", account, "3.00"));
  await books.do((id) => revealAccount(id, account.id));
}
