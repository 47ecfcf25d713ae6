import { CommanderError } from "commander";

import { invocation, runWithin, type Surroundings } from "../startup/invocation.js";
import { endWhenOutputFails } from "./commands/output.js";
import { kescProgram } from "./program.js";

const WRONG_USAGE = 2;

/**
 * Runs a command. Returns its exit code: 0 success, 1 failure, 2 wrong usage or configuration, and
 * 3 for an audit that could not be done. Some commands go on afterwards: the gateway does.
 *
 * Without `surroundings` it is the command of this process, and a lost output ends the process.
 * With them, nothing of it stays in the process; but `serve`, `server` and `gateway` need one.
 */
export async function runKesc(args: readonly string[], surroundings?: Surroundings): Promise<number> {
  if (surroundings !== undefined) return runWithin(surroundings, () => run(args));
  endWhenOutputFails();
  return run(args);
}

async function run(args: readonly string[]): Promise<number> {
  try {
    const program = await kescProgram(args);
    await program.parseAsync(args, { from: "user" });
    return invocation().exitCode;
  } catch (error) {
    // Commander has printed its own error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    const { reportFailure } = await import("./commands/failure.js");
    return reportFailure(error);
  }
}
