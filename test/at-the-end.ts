const waiting: (() => Promise<void>)[] = [];

/** Has something that several suites share taken down when the last test is done; the last to come goes first. */
export function atTheEnd(takeDown: () => Promise<void>): void {
  waiting.push(takeDown);
}

/** Called by mocha. Takes all down, whatever one of them says; what the first says fails the run. */
export async function mochaGlobalTeardown(): Promise<void> {
  const failures: unknown[] = [];
  for (const takeDown of waiting.reverse()) await takeDown().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
