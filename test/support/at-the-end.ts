const waiting: (() => Promise<void>)[] = [];

/**
 * Has something that several suites share taken down when the last test is done; the last to come
 * goes first.
 */
export function atTheEnd(takeDown: () => Promise<void>): void {
  waiting.push(takeDown);
}

/** Takes all of it down, once, whatever one of them says; rejects with what the first says. */
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
