/** Ends a command. Tells the operator what is wrong and what to do next. It is not a bug. */
export class OperatorError extends Error {
  constructor(
    message: string,
    /** 1: it failed, so the command ends with its `failedExitCode`; 2: it was called wrongly. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "OperatorError";
  }
}

/** The command was called wrongly: it ends with 2. */
export class UsageError extends OperatorError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, 2, options);
  }
}
