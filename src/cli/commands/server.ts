import type { Command } from "commander";

import { shutdownSignal } from "../../../runtime/shutdown.js";
import { configFromEnvironment, refuseExposure } from "../../startup/environment.js";

/** `kesc server`: serves gRPC until its shutdown signal. */
export function addServer(program: Command): void {
  program
    .command("server")
    .description("serve gRPC")
    .action(async () => {
      // Before the import, which takes a while: its process manager may stop this one at once.
      const stopping = shutdownSignal();
      const config = configFromEnvironment();
      refuseExposure("server");
      // The other commands do not need gRPC, and start in half the time without it.
      const { runServer } = await import("../run-server.js");
      process.exit(await runServer(config, stopping));
    });
}
