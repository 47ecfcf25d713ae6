import { setTimeout as sleep } from "node:timers/promises";

import type { Command } from "commander";

import { announceReady, type Child, type Exit, exitsOf, startChild } from "../../../runtime/child.js";
import { shutdownSignal } from "../../../runtime/shutdown.js";
import { configFromEnvironment, refuseExposure } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { OperatorError } from "../../startup/operator-error.js";
import { KESC, serverNodeOptions } from "../young-generation.js";
import { type Addresses, reachable } from "./addresses.js";
import { printLine } from "./output.js";

/**
 * `kesc serve`: runs the server and the gateway as two processes until a shutdown signal, and with
 * --demo the operators' console as a third. Stops the server last, so that it finishes the calls of
 * the others. If one process exits by itself, stops all.
 */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve gRPC and REST, as two processes")
    .option(
      "--demo",
      "migrate, make a demo organization if there is none, serve the console, and print a request to paste",
    )
    .action(async ({ demo: isDemo = false }: { demo?: boolean }) => {
      const config = configFromEnvironment();
      refuseExposure("server and gateway");
      // Only the demo needs the database, which would take half of the time that this command needs
      // to start.
      const demo = isDemo ? await import("./demo.js") : undefined;
      const prepared = await demo?.prepareDemo(config);
      if (prepared !== undefined) printLine("Starting the server, the gateway and the console…");
      try {
        // People who try it out sign in at a console. Others start one where they need it.
        const operators = config.operatorAddress ?? demo?.newOperatorSocket();
        const consoleTarget = prepared === undefined ? undefined : operators;
        await serve({ ...config, consoleTarget }, async (addresses) => {
          if (demo === undefined || prepared === undefined || operators === undefined) return;
          const begun = await demo.beginDemo(prepared, { grpc: addresses.grpc, operators }, config);
          printLine(demo.demoWords(prepared, { ...addresses, ...begun }, { hasTls: config.tls !== undefined }));
        });
      } finally {
        // The listener for "disconnect" would keep this process alive.
        if (process.connected) process.disconnect();
      }
    });
}

interface ServeOptions {
  readonly gatewayTarget: string | undefined;
  readonly shutdownGraceSeconds: number;
  /**
   * The operators' address of the demo, which has a console. Its children print nothing before
   * `onReady` has. Undefined: it is no demo.
   */
  readonly consoleTarget: string | undefined;
}

/** Resolves when both have stopped as asked. Throws an OperatorError when one ended otherwise. */
async function serve(options: ServeOptions, onReady: OnReady): Promise<void> {
  // In the order of their start. They are stopped in reverse order.
  const children: Child[] = [];
  const start = (child: Child): Child => {
    children.push(child);
    return child;
  };

  const stopping = shutdownSignal().then(() => undefined);
  const releaseOutput = (): void => {
    for (const child of children) child.releaseOutput();
  };
  const onAllReady = async (addresses: Addresses): Promise<void> => {
    await onReady(addresses);
    releaseOutput();
  };
  const ended = await Promise.race([stopping, runAll(start, stopping, { ...options, onReady: onAllReady })]);
  // A child that has failed may have printed the reason.
  releaseOutput();
  const exits = await stopAll(children, options.shutdownGraceSeconds * 1_000);
  if (ended !== undefined)
    throw new OperatorError(
      `The ${ended.name} exited unexpectedly (${String(await ended.exited)}). All processes were stopped.`,
    );
  const unclean = children.flatMap(({ name }, index) =>
    exits[index] === 0 ? [] : [`${name} (${String(exits[index])})`],
  );
  if (unclean.length > 0) throw new OperatorError(`The shutdown failed: ${unclean.join(", ")}.`);
}

/**
 * Starts the server, then the gateway, then the console of a demo. Resolves with the first that
 * ends, or with undefined on the shutdown signal.
 */
async function runAll(
  start: (child: Child) => Child,
  stopping: Promise<undefined>,
  { gatewayTarget, consoleTarget, onReady }: ServeOptions & { readonly onReady: OnReady },
): Promise<Child | undefined> {
  const isDemo = consoleTarget !== undefined;
  const holdOutput = isDemo;
  // A line for each call would scroll the links of the demo away.
  const ofDemo: Readonly<Record<string, string>> = isDemo
    ? { KESC_LOG_LEVEL: invocation().env["KESC_LOG_LEVEL"] ?? "warn" }
    : {};
  const ofServer = isDemo ? { ...ofDemo, KESC_OPERATOR_ADDRESS: consoleTarget } : {};
  const server = start(
    startChild(KESC, {
      name: "server",
      args: ["server", "--supervised"],
      nodeOptions: serverNodeOptions(),
      variables: ofServer,
      holdOutput,
    }),
  );
  const grpc = await Promise.race([server.ready, stopping]);
  if (grpc === undefined) return endedOf([server], stopping);

  const variables = { ...ofDemo, KESC_GATEWAY_TARGET: gatewayTarget ?? reachable(grpc) };
  const gateway = start(startChild(KESC, { name: "gateway", args: ["gateway"], variables, holdOutput }));
  const http = await Promise.race([gateway.ready, endedOf([server], stopping).then(() => undefined)]);
  if (http === undefined) return endedOf([server, gateway], stopping);
  const all = [server, gateway];
  if (isDemo) {
    const ofConsole = { ...ofDemo, KESC_CONSOLE_TARGET: consoleTarget };
    const console = start(startChild(KESC, { name: "console", args: ["console"], variables: ofConsole, holdOutput }));
    all.push(console);
    const address = await Promise.race([console.ready, endedOf([server, gateway], stopping).then(() => undefined)]);
    if (address === undefined) return endedOf(all, stopping);
  }
  await onReady({ grpc, http });
  announceReady(http, { grpcAddress: grpc });
  return endedOf(all, stopping);
}

type OnReady = (addresses: Addresses) => Promise<void> | void;

function endedOf(children: readonly Child[], stopping: Promise<undefined>): Promise<Child | undefined> {
  return Promise.race([stopping, ...children.map((child) => child.exited.then(() => child))]);
}

/** Stops the children one after the other, the last started first; kills them in the end. */
async function stopAll(children: readonly Child[], graceMillis: number): Promise<readonly Exit[]> {
  const exits = exitsOf(children, graceMillis);
  for (const child of children.toReversed()) {
    child.stop();
    // A child that takes long leaves the next one its share of the time.
    await Promise.race([child.exited, sleep(graceMillis / children.length, undefined, { ref: false })]);
  }
  return exits;
}
