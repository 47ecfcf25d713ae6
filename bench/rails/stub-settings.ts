import type { Program } from "../servers/programs.js";

/** How the stub of M-Pesa answers. It travels as JSON over the IPC channel. */
export interface StubSettings {
  /** The time until each answer, except that to a request for an access token. */
  delayMillis: number;
  /** Whether prompts and payouts are accepted. The others are refused for good. */
  accepts: boolean;
  /** "host:port" of the gateway that hears how each order ended; empty: nobody hears it. */
  gatewayAddress: string;
}

/** Resolves once the stub answers so. */
export function setStub({ process: child }: Program, settings: StubSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("exit", () => {
      reject(new Error("the stub of M-Pesa has ended"));
    });
    child.once("message", () => {
      resolve();
    });
    child.send(settings);
  });
}
