/**
 * What stops a command, in words for whoever typed it: what is wrong, and what to do next. Not a
 * bug.
 */
export class Problem extends Error {
  constructor(
    message: string,
    /** 1: it failed; 2: it was called wrongly. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "Problem";
  }
}
