import { type Command, Option } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";

/** `kesc server`: serves gRPC until it is told to stop. */
export function addServer(program: Command): void {
  program
    .command("server")
    .description("serve gRPC")
    .addOption(supervisedOption())
    .action(async ({ supervised }: { supervised?: true }) => {
      // Only here: the other commands need no gRPC, and start in half the time without it.
      const { runServer } = await import("../../server.js");
      process.exit(await runServer(configFromEnvironment(), { supervised: supervised === true }));
    });
}

function supervisedOption(): Option {
  return new Option("--supervised", "leave signals to the process that started this one").hideHelp();
}
