import type { Program } from "../servers/programs.js";

/** A watcher for each key, or the question what was heard since the last report. */
export type ListenerRequest = { address: string; keys: readonly string[] } | "report";

export interface Heard {
  /** Each event counts once for each watcher. */
  events: number;
  deliveries: number;
  /** From the moment that the event tells to its arrival. */
  lagP99Millis: number;
  /** The first error of a stream. */
  problem: string | undefined;
}

/** Resolves when each watcher has had its first message. */
export async function beginWatching(listener: Program, address: string, keys: readonly string[]): Promise<void> {
  await ask(listener, { address, keys });
}

export async function heardBy(listener: Program): Promise<Heard> {
  return (await ask(listener, "report")) as Heard;
}

function ask({ process: child }: Program, request: ListenerRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => {
      reject(new Error("the listener has ended"));
    };
    child.once("exit", onExit);
    child.once("message", (reply) => {
      child.off("exit", onExit);
      resolve(reply);
    });
    child.send(request);
  });
}
