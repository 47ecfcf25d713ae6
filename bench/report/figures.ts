/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/**
 * Two of the values between which the median of their distribution lies, with a confidence of at
 * least 95 %. It holds for any distribution: n values lie as n throws of a coin on either side.
 */
export function medianInterval(values: readonly number[]): readonly [from: number, to: number] {
  const sorted = values.toSorted((a, b) => a - b);
  let dropped = 0;
  // The probability that at most `dropped` values lie on one side.
  let chance = 0.5 ** sorted.length;
  for (let below = chance; below <= 0.025; below += chance) {
    dropped += 1;
    chance *= (sorted.length - dropped + 1) / dropped;
  }
  return [sorted[Math.max(0, dropped - 1)] ?? NaN, sorted.at(-Math.max(1, dropped)) ?? NaN];
}

/** The median over the rounds of `above` divided by `below`. */
export function medianRatio(above: readonly number[], below: readonly number[]): number {
  return median(above.map((value, round) => value / (below[round] ?? NaN)));
}

/** The smallest value that at least `share` of all values do not exceed; 0 when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
