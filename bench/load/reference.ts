/**
 * References of the benchmark: a fixed word and a serial number of fixed width, so that a prepared
 * request only needs its digits replaced.
 */

const PREFIX = "bench-";
const DIGITS = 12;
const ZERO = 0x30;

/** Where a prepared request has its serial number: all zeros until it is written. */
export const BLANK_REFERENCE = PREFIX + "0".repeat(DIGITS);

/** The reference with this serial number. */
export function referenceOf(serial: number): string {
  return PREFIX + String(serial).padStart(DIGITS, "0");
}

/** Where the digits of the blank reference begin in `prepared`; -1 when it has none. */
export function findSerial(prepared: Buffer): number {
  const at = prepared.indexOf(BLANK_REFERENCE);
  return at < 0 ? -1 : at + PREFIX.length;
}

/** The same for bytes that have many, each in its order. */
export function findSerials(prepared: Buffer): number[] {
  const found: number[] = [];
  for (let at = prepared.indexOf(BLANK_REFERENCE); at >= 0; at = prepared.indexOf(BLANK_REFERENCE, at + 1)) {
    found.push(at + PREFIX.length);
  }
  return found;
}

/** Writes the serial number's digits at `at`. */
export function writeSerial(bytes: Buffer, at: number, serial: number): void {
  let rest = serial;
  for (let i = at + DIGITS - 1; i >= at; i--) {
    const quotient = Math.floor(rest / 10);
    bytes[i] = ZERO + (rest - quotient * 10);
    rest = quotient;
  }
}

/**
 * The serial number of the reference in `bytes` from `start` to `end`; NaN when it is not one of
 * ours.
 */
export function readSerial(bytes: Buffer, start: number, end: number): number {
  if (end - start !== BLANK_REFERENCE.length) return NaN;
  let serial = 0;
  for (let i = start + PREFIX.length; i < end; i++) serial = serial * 10 + ((bytes[i] ?? 0) - ZERO);
  return serial;
}
