/** The mobile networks of Kenya, but Safaricom. */
export type OtherNetwork = "Airtel" | "Telkom" | "Faiba";

/**
 * The prefixes of each, after +254, as the public tables of November 2026 have them. Safaricom has
 * the others. A number can be ported, so a prefix proves nothing.
 */
const PREFIXES: Readonly<Record<OtherNetwork, RegExp>> = {
  Faiba: /^747/,
  Telkom: /^77/,
  Airtel: /^(73|75[0-6]|76[02-7]|78|10[0-8]|13[5-9])/,
};

/**
 * Returns the network that a number belongs to by its prefix, if it is not Safaricom's. The number
 * is one of Kenya in E.164, with or without the plus.
 */
export function otherNetworkOf(number: string): OtherNetwork | undefined {
  const [, national] = /^\+?254(\d{9})$/.exec(number) ?? [];
  if (national === undefined) return undefined;
  return (Object.keys(PREFIXES) as OtherNetwork[]).find((network) => PREFIXES[network].test(national));
}
