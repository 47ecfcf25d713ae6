import type { Logger } from "pino";

import { readConfig as readConsoleConfig } from "../../../console/config.js";
import { startAdmin } from "../../../gateway/admin.js";
import { type GatewayConfig, readConfig } from "../../../gateway/config.js";
import { GatewayStartError } from "../../../gateway/program.js";
import { GatewayThreads } from "../../../gateway/threads.js";
import { announceReady } from "../../../runtime/ready.js";
import type { Config } from "../../startup/config.js";
import { invocation } from "../../startup/invocation.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import type { StartFront } from "../run-server.js";
import type { Addresses } from "./addresses.js";

/** What a demo has beside server and gateway. */
export interface DemoFront {
  /** Called when all of it serves, before the process says that it is ready. */
  readonly begin: (addresses: Addresses & { readonly operators: string }) => Promise<void>;
}

type FrontPart = Pick<GatewayThreads, "stop">;

/**
 * Returns how to start the gateway in front of the server, and with `demo` the console. Throws an
 * OperatorError if one cannot start.
 */
export function frontOf(config: Config, demo: DemoFront | undefined): StartFront {
  // Before the server starts: a wrong variable starts nothing.
  const gatewayConfig = gatewayConfigOf(config);
  return async (server, log) => {
    const parts: FrontPart[] = [];
    const stop = async (): Promise<boolean> => (await Promise.all(parts.map((part) => part.stop()))).every(Boolean);
    try {
      const takeCalls = config.gatewayTarget === undefined ? server.takeCalls : undefined;
      const gateway = await GatewayThreads.start(gatewayConfig, { log, takeCalls });
      parts.push(gateway);
      await startAdmin(gatewayConfig, gateway, log);
      // The real one: the variable may have port 0.
      const { operatorAddress: operators = "" } = server;
      if (demo !== undefined) parts.push(await startDemoConsole(operators, log));
      const addresses = { grpc: server.address, http: gateway.address };
      await demo?.begin({ ...addresses, operators });
      announceReady(addresses.http, { grpcAddress: addresses.grpc });
      const ended = gateway.ended.then(
        (code) => `The gateway exited unexpectedly (${String(code)}). The server was stopped.`,
      );
      return { ended, stop };
    } catch (error) {
      await stop();
      if (!(error instanceof GatewayStartError)) throw error;
      throw error.isUsage ? new UsageError(error.message) : new OperatorError(error.message);
    }
  };
}

function gatewayConfigOf({ logLevel }: Config): GatewayConfig {
  const result = readConfig(invocation().env, { isBesideServer: true });
  if (!result.ok) throw new UsageError(result.problems.join("\n"));
  return { ...result.config, logLevel };
}

async function startDemoConsole(operatorAddress: string, log: Logger): Promise<FrontPart> {
  const result = readConsoleConfig({ ...invocation().env, KESC_CONSOLE_TARGET: operatorAddress });
  if (!result.ok) throw new UsageError(result.problems.join("\n"));
  const { startConsole } = await import("../../../console/server.js");
  return startConsole(result.config, log, { isLazy: true });
}
