/** An error for the operator. Its message says what is wrong and what to do. It is not a bug. */
export class Problem extends Error {
  constructor(
    message: string,
    /** 1 for a failure, 2 for wrong usage or configuration. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "Problem";
  }
}
