import { setTimeout as sleep } from "node:timers/promises";

import type { Command } from "commander";

import { announceReady, type Child, type Exit, exitsOf, startChild } from "../../../runtime/child.js";
import { shutdownSignal } from "../../../runtime/shutdown.js";
import { configFromEnvironment, refuseExposure } from "../../startup/environment.js";
import { OperatorError } from "../../startup/operator-error.js";
import { KESC, serverNodeOptions } from "../young-generation.js";
import { type Addresses, reachable } from "./addresses.js";
import { printLine } from "./output.js";

/**
 * `kesc serve`: runs the server and the gateway as two processes until a shutdown signal. Stops the
 * gateway first, so that the server finishes the calls of the gateway. If one process exits by
 * itself, stops the other one, too.
 */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("serve gRPC and REST, as two processes")
    .option("--demo", "migrate, create a demo organization with a key if there is none, and print requests to paste")
    .action(async ({ demo: isDemo = false }: { demo?: boolean }) => {
      const config = configFromEnvironment();
      refuseExposure("server and gateway");
      // Only the demo needs the database, which would take half of the time that this command needs
      // to start.
      const demo = isDemo ? await import("./demo.js") : undefined;
      const prepared = await demo?.prepareDemo(config);
      if (prepared !== undefined) printLine("Starting the server and the gateway…");
      try {
        await serve({ ...config, holdOutput: prepared !== undefined }, (addresses) => {
          if (demo === undefined || prepared === undefined) return;
          printLine(demo.demoWords(prepared, addresses, { hasTls: config.tls !== undefined }));
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
  /** Whether the children print nothing before `onReady` has. */
  readonly holdOutput: boolean;
}

/** Resolves when both have stopped as asked. Throws an OperatorError when one ended otherwise. */
async function serve(options: ServeOptions, onReady: (addresses: Addresses) => void): Promise<void> {
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
  const onBothReady = (addresses: Addresses): void => {
    onReady(addresses);
    releaseOutput();
  };
  const ended = await Promise.race([stopping, runBoth(start, stopping, { ...options, onReady: onBothReady })]);
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
 * Starts the server, then the gateway. Resolves with the first that ends, or with undefined on the
 * shutdown signal.
 */
async function runBoth(
  start: (child: Child) => Child,
  stopping: Promise<undefined>,
  { gatewayTarget, holdOutput, onReady }: ServeOptions & { readonly onReady: (addresses: Addresses) => void },
): Promise<Child | undefined> {
  const server = start(
    startChild(KESC, {
      name: "server",
      args: ["server", "--supervised"],
      nodeOptions: serverNodeOptions(),
      holdOutput,
    }),
  );
  const grpc = await Promise.race([server.ready, stopping]);
  if (grpc === undefined) return endedOf([server], stopping);

  const variables = { KESC_GATEWAY_TARGET: gatewayTarget ?? reachable(grpc) };
  const gateway = start(startChild(KESC, { name: "gateway", args: ["gateway"], variables, holdOutput }));
  const http = await Promise.race([gateway.ready, endedOf([server], stopping).then(() => undefined)]);
  if (http !== undefined) {
    onReady({ grpc, http });
    announceReady(http, { grpcAddress: grpc });
  }
  return endedOf([server, gateway], stopping);
}

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
