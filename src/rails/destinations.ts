import * as z from "zod";

import type { DestinationKind } from "../domain/destination.js";

const KINDS = { phone: "PHONE" } as const satisfies Readonly<Record<string, DestinationKind>>;

/** The setting of an account at a rail that says which destinations it pays. None when absent. */
export const destinationsSetting = z
  .array(z.enum(Object.keys(KINDS) as (keyof typeof KINDS)[], "must be phone"), "must be a list of kinds")
  .optional();

/** Returns what the setting allows. */
export function allowedDestinations(setting: z.output<typeof destinationsSetting>): readonly DestinationKind[] {
  return (setting ?? []).map((kind) => KINDS[kind]);
}
