import * as z from "zod";

import type { DestinationKind } from "../domain/destination.js";
import type { PayableDestinations } from "../domain/payment.js";
import type { PayableAmounts } from "../domain/values/payable-amounts.js";

const KINDS = { phone: "PHONE", till: "TILL", paybill: "PAYBILL" } as const satisfies Readonly<
  Record<string, DestinationKind>
>;

/** The setting of an account at a rail that says which destinations it pays. None when absent. */
export const destinationsSetting = z
  .array(
    z.enum(Object.keys(KINDS) as (keyof typeof KINDS)[], "must be phone, till or paybill"),
    "must be a list of kinds",
  )
  .optional();

/** Whether the setting allows a till or a paybill. */
export function paysBusinesses(setting: z.output<typeof destinationsSetting>): boolean {
  return setting?.some((kind) => kind !== "phone") === true;
}

/** Returns what the setting allows, with what the rail pays to a phone and to a business. */
export function payableDestinations(
  setting: z.output<typeof destinationsSetting>,
  { phone, business }: { phone: PayableAmounts; business: PayableAmounts | undefined },
): PayableDestinations {
  const payable = (kind: keyof typeof KINDS): PayableAmounts | undefined => (kind === "phone" ? phone : business);
  const pairs = (setting ?? []).flatMap((kind) => {
    const amounts = payable(kind);
    return amounts === undefined ? [] : [[KINDS[kind], amounts] as const];
  });
  return Object.fromEntries(pairs);
}
