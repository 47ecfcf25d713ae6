import { type Cents, toCents } from "./cents.js";

/** The amounts that a rail can pay: the multiples of `stepCents` from `minCents` to `maxCents`. */
export interface PayableAmounts {
  readonly minCents: Cents;
  readonly maxCents: Cents;
  /** At least one cent. */
  readonly stepCents: Cents;
}

/** The payable amounts next to an amount. Both are the amount itself if it is payable. */
export interface NearestAmounts {
  /** Undefined if no payable amount is as small as this one. */
  readonly belowCents: Cents | undefined;
  /** Undefined if no payable amount is as large as this one. */
  readonly aboveCents: Cents | undefined;
}

export function isPayable(amountCents: Cents, payable: PayableAmounts): boolean {
  return nearestPayable(amountCents, payable).belowCents === amountCents;
}

/**
 * Returns the payable amounts below and above, for a caller to choose from. The service itself
 * never rounds an amount.
 */
export function nearestPayable(amountCents: Cents, { minCents, maxCents, stepCents }: PayableAmounts): NearestAmounts {
  const below = Math.min(amountCents, maxCents);
  const above = Math.max(amountCents, minCents);
  const belowCents = below - (below % stepCents);
  const aboveCents = above % stepCents === 0 ? above : above - (above % stepCents) + stepCents;
  return {
    belowCents: belowCents >= minCents ? toCents(belowCents) : undefined,
    aboveCents: aboveCents <= maxCents ? toCents(aboveCents) : undefined,
  };
}
