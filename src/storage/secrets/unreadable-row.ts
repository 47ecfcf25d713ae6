/**
 * A part of a row cannot be read: somebody has changed it past the service. To repeat the call does
 * not help. The message names the row, and has no value of it.
 */
export class UnreadableRowError extends Error {
  constructor(part: string) {
    super(`${part} cannot be read: the row was changed past the service. Run: kesc verify`);
    this.name = "UnreadableRowError";
  }
}

/** Returns what `read` returns. Throws an UnreadableRowError if it throws. */
export function readPart<Result>(part: string, read: () => Result): Result {
  try {
    return read();
  } catch {
    throw new UnreadableRowError(part);
  }
}
