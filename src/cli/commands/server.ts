import { type Command, Option } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";

/** `kesc server`: serves gRPC until a shutdown signal. */
export function addServer(program: Command): void {
  program
    .command("server")
    .description("serve gRPC")
    .addOption(supervisedOption())
    .action(async ({ supervised }: { supervised?: true }) => {
      // Imports the server here only. The other commands need no gRPC, and start in half the time
      // without it.
      const { runServer } = await import("../../server.js");
      process.exit(await runServer(configFromEnvironment(), { supervised: supervised === true }));
    });
}

function supervisedOption(): Option {
  return new Option("--supervised", "leave signals to the process that started this one").hideHelp();
}
