/** A program of the benchmark that is started by a person. */
export interface BenchCommand<Options> {
  usage: string;
  /** Throws, in words for the caller, when the arguments are wrong. */
  readOptions: (args: string[]) => Options;
  main: (options: Options) => Promise<void>;
}

/**
 * Runs it with this process's arguments. Sets the exit code: 2 when they are wrong, 1 when it
 * fails.
 */
export async function runCommand<Options>({ usage, readOptions, main }: BenchCommand<Options>): Promise<void> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${usage}\n`);
    process.exitCode = 2;
    return;
  }
  try {
    await main(options);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
