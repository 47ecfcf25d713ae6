/** Ends a command. Tells the operator what is wrong and what to do next. It is not a bug. */
export class OperatorError extends Error {
  override readonly name: string = "OperatorError";
  /** 1: it failed, so the command ends with its `failedExitCode`; 2: it was called wrongly. */
  readonly exitCode: 1 | 2 = 1;
}

/** The command was called wrongly, or its environment is wrong: it ends with 2. */
export class UsageError extends OperatorError {
  override readonly exitCode = 2;
}

/** Throws a UsageError that says what the command would do, unless it was told to do it. */
export function requireYes(yes: true | undefined, intent: string): void {
  if (yes !== true) throw new UsageError(`${intent} Nothing was done. To do it, add --yes.`);
}
