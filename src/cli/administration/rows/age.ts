const UNITS = [
  ["days", 86_400],
  ["hours", 3_600],
  ["minutes", 60],
] as const;

/** Returns an age in words, in the largest unit of which there are two or more. */
export function ageWords(ageSeconds: number): string {
  const [unit, size] = UNITS.find(([, seconds]) => ageSeconds >= 2 * seconds) ?? ["seconds", 1];
  return `${String(Math.max(0, Math.floor(ageSeconds / size)))} ${unit}`;
}
