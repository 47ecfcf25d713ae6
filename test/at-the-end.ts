const waiting: (() => Promise<void>)[] = [];

/** Has something that several suites share taken down when the last test is done; the last to come goes first. */
export function atTheEnd(takeDown: () => Promise<void>): void {
  waiting.push(takeDown);
}

/** Called by mocha. */
export async function mochaGlobalTeardown(): Promise<void> {
  for (const takeDown of waiting.reverse()) await takeDown();
}
