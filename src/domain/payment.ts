/**
 * Why a payment over a rail failed. The list is closed. The last two are decisions of the service
 * and of an operator; a rail reports the others.
 */
export const FAILURE_REASONS = [
  "CANCELED_BY_PAYER",
  "PAYER_UNREACHABLE",
  "PAYER_SHORT_OF_FUNDS",
  "WRONG_PIN",
  "RECIPIENT_NOT_REGISTERED",
  "RECIPIENT_LIMIT",
  "RAIL_ACCOUNT_SHORT",
  "RAIL_REFUSED",
  "EXPIRED",
  "REPORT_DIFFERS",
  "RESOLVED_BY_OPERATOR",
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];
