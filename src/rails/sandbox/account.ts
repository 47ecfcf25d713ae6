import * as z from "zod";

import { destinationsSetting, payableDestinations } from "../destinations.js";
import { MPESA_CAPABILITIES } from "../mpesa/limits.js";
import { railKind } from "../rail-kind.js";
import { SANDBOX_RAIL, SandboxRail } from "./sandbox.js";

/** The sandbox pays what M-Pesa pays, and only for organizations that are for tests. */
export const SANDBOX = railKind({
  name: SANDBOX_RAIL,
  settings: z.strictObject({ destinations: destinationsSetting }),
  refusals: (_, { isSandbox }) =>
    isSandbox ? [] : ["The rail sandbox moves no shillings: only sandbox organizations can have it."],
  open: ({ settings, now }) => {
    const { MINT, REDEEM } = MPESA_CAPABILITIES;
    const destinations = payableDestinations(settings.destinations, { phone: REDEEM, business: REDEEM });
    return new SandboxRail({ capabilities: { MINT, REDEEM: { ...REDEEM, destinations } }, now });
  },
});
