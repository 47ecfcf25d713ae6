import { type Command, Option } from "commander";

import { shutdownSignal } from "../../../runtime/shutdown.js";
import { configFromEnvironment, refuseExposure } from "../../startup/environment.js";

/** `kesc server`: serves gRPC until its shutdown signal. */
export function addServer(program: Command): void {
  program
    .command("server")
    .description("serve gRPC")
    .addOption(supervisedOption())
    .action(async ({ supervised }: { supervised?: true }) => {
      // Before the import, which takes a while: the parent process may stop this one at once.
      const stopping = shutdownSignal({ ignoreSignals: supervised === true });
      const config = configFromEnvironment();
      refuseExposure("server");
      // The other commands do not need gRPC, and start in half the time without it.
      const { runServer } = await import("../run-server.js");
      process.exit(await runServer(config, stopping));
    });
}

function supervisedOption(): Option {
  return new Option("--supervised", "leave signals to the process that started this one").hideHelp();
}
