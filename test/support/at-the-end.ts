import fc from "fast-check";

import { SEED } from "./stage.js";

// Every process of tests loads this file first. A property that needs another seed names its own.
fc.configureGlobal({ seed: SEED });

const waiting: (() => Promise<void>)[] = [];

/**
 * Registers a teardown for after the last test, for a thing that several suites share. Teardowns
 * run in the reverse order of their registration.
 */
export function atTheEnd(takeDown: () => Promise<void>): void {
  waiting.push(takeDown);
}

/** Runs every teardown once, even when one of them fails. Rejects with the first failure. */
export async function takeDownAll(): Promise<void> {
  const failures: unknown[] = [];
  for (const takeDown of waiting.splice(0).reverse()) {
    await takeDown().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Called by mocha. */
export async function mochaGlobalTeardown(): Promise<void> {
  await takeDownAll();
}
