import * as z from "zod";

import { MPESA_CAPABILITIES } from "../mpesa/limits.js";
import { railKind } from "../rail-kind.js";
import { SANDBOX_RAIL, SandboxRail } from "./sandbox.js";

/** The sandbox pays what M-Pesa pays, and only for organizations that are for tests. */
export const SANDBOX = railKind({
  name: SANDBOX_RAIL,
  settings: z.strictObject({}),
  refusals: (_, { isSandbox }) =>
    isSandbox ? [] : ["The rail sandbox moves no shillings: only sandbox organizations can have it."],
  open: ({ now }) => new SandboxRail({ capabilities: MPESA_CAPABILITIES, now }),
});
