import type { Command } from "commander";

import { shutdownSignal } from "../../../runtime/shutdown.js";
import type { Config } from "../../startup/config.js";
import { configFromEnvironment, refuseExposure } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { printLine } from "./output.js";
import type { DemoFront } from "./serve-front.js";

/**
 * `kesc serve`: runs the server and the gateway in one process until a shutdown signal, and with
 * --demo the operators' console. If one of them cannot start, or ends by itself, all end.
 */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve gRPC and REST, in one process")
    .option(
      "--demo",
      "migrate, make a demo organization if there is none, serve the console, and print a request to paste",
    )
    .action(async ({ demo: isDemo = false }: { demo?: boolean }) => {
      const config = configFromEnvironment();
      refuseExposure("server and gateway");
      process.exit(await (isDemo ? serveDemo(config) : serve(config)));
    });
}

async function serve(config: Config, demo?: DemoFront): Promise<0 | 1> {
  const stopping = shutdownSignal();
  // The other commands do not need them, and start in half the time.
  const [{ runServer }, { frontOf }] = await Promise.all([import("../run-server.js"), import("./serve-front.js")]);
  return runServer(config, stopping, frontOf(config, demo));
}

/** Unless a log level is set, no line for each call scrolls the links of the demo away. */
async function serveDemo(given: Config): Promise<0 | 1> {
  const { beginDemo, demoWords, newOperatorSocket, prepareDemo } = await import("./demo.js");
  const prepared = await prepareDemo(given);
  printLine("Starting the server, the gateway and the console…");
  // People who try it out sign in at a console. Others start one where they need it.
  const operatorAddress = given.operatorAddress ?? newOperatorSocket();
  const logLevel = invocation().env["KESC_LOG_LEVEL"] === undefined ? "warn" : given.logLevel;
  const config = { ...given, operatorAddress, logLevel };
  return serve(config, {
    begin: async (addresses) => {
      const begun = await beginDemo(prepared, addresses, config);
      printLine(demoWords(prepared, { ...addresses, ...begun }, { hasTls: config.tls !== undefined }));
    },
  });
}
