import { BANK } from "./bank/account.js";
import { MPESA } from "./mpesa/account.js";
import type { PaymentRail } from "./rail.js";
import { type RailAccountSource, type RailDependencies, type RailKind, WrongRailAccountError } from "./rail-kind.js";
import { SANDBOX } from "./sandbox/account.js";

/** Every rail of this version. docs/add-a-rail.md says how another one comes here. */
export const RAILS: readonly RailKind[] = [SANDBOX, MPESA, BANK];

/** Returns undefined for a rail of another version. */
export function railNamed(name: string): RailKind | undefined {
  return RAILS.find((rail) => rail.name === name);
}

/** Makes the rail of an account. Throws a WrongRailAccountError. */
export function railOf(account: RailAccountSource, dependencies: RailDependencies): PaymentRail {
  const rail = railNamed(account.rail);
  if (rail === undefined) throw new WrongRailAccountError([`This version of KESC has no rail ${account.rail}.`]);
  return rail.open(account, dependencies);
}
