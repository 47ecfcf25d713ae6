import type { TransactionType } from "../../domain/transaction.js";
import { toCents } from "../../domain/values/cents.js";
import type { Capabilities } from "../rail.js";

// The numbers of Safaricom's subscribers: 07 and 01, as Daraja validates them.
const PHONE_NUMBERS = /^\+254[17]\d{8}$/;

// Safaricom's limits since August 2023 (docs/mpesa.md). M-Pesa moves whole shillings only.
const SHILLING_CENTS = toCents(100);
const MAX_CENTS = toCents(250_000_00);

/** What M-Pesa can collect (MINT) and pay out (REDEEM), where a setting does not say otherwise. */
export const MPESA_CAPABILITIES: Readonly<Record<TransactionType, Capabilities>> = {
  MINT: { minCents: toCents(1_00), maxCents: MAX_CENTS, stepCents: SHILLING_CENTS, phoneNumbers: PHONE_NUMBERS },
  REDEEM: { minCents: toCents(10_00), maxCents: MAX_CENTS, stepCents: SHILLING_CENTS, phoneNumbers: PHONE_NUMBERS },
};
