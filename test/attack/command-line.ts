/**
 * Reads the options of the command line. Prints what is wrong with them, and how the program is
 * called, where `read` throws; then returns undefined and has the process exit with 2.
 */
export function optionsOrUsage<Options>(read: (args: string[]) => Options, usage: string): Options | undefined {
  try {
    return read(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

/** Reads a whole number from `min` to `max`. Throws, in words for the caller, when it is none. */
export function wholeNumber(option: string, text: string, { min = 1, max }: { min?: number; max: number }): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${option} takes a whole number from ${String(min)} to ${String(max)}`);
}
