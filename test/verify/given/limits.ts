import { OPERATOR } from "../../../src/domain/values/actor.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { SLOW_RAIL } from "../../support/names.js";
import { revealAccount, setAccountTier, setLimits } from "../../support/operations/accounts.js";
import { decideHeld } from "../../support/operations/transactions.js";
import type { GivenBooks } from "./books.js";

/**
 * Limits, and one account that has used 5.00 of its mints and 1.00 of its redemptions. Three mints
 * do not count: one before the limits, a canceled one and a reversed one. Then somebody looks at
 * the personal data of the account. Of three redemptions that are held, one is refused, one is
 * released, and two are canceled.
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
  await books.do((id) => setLimits(id, { type: "REDEEM", changes: { HELD_AMOUNT: toCents(0) } }));
  const refused = await books.move("redeem", account, "0.10", { rail: SLOW_RAIL });
  await books.do((id) => ({ ...decideHeld("refuseTransaction", id, refused.id), actor: OPERATOR }));
  const released = await books.move("redeem", account, "0.20", { rail: SLOW_RAIL });
  await books.do((id) => ({ ...decideHeld("releaseTransaction", id, released.id), actor: OPERATOR }));
  await books.cancel(released, "not wanted");
  await books.cancel(await books.move("redeem", account, "0.30", { rail: SLOW_RAIL }), "not wanted");
}
