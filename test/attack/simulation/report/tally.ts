/** Counts by name. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  count(group: string, name: string, times = 1): void {
    let counts = this.#counts.get(group);
    if (counts === undefined) {
      counts = new Map();
      this.#counts.set(group, counts);
    }
    counts.set(name, (counts.get(name) ?? 0) + times);
  }

  sum(group: string): number {
    return this.counts(group).reduce((sum, [, times]) => sum + times, 0);
  }

  /** The most frequent first. */
  counts(group: string): [name: string, times: number][] {
    return [...(this.#counts.get(group) ?? [])].sort(([, left], [, right]) => right - left);
  }

  /** In alphabetical order. */
  names(group: string): string[] {
    return [...(this.#counts.get(group)?.keys() ?? [])].sort();
  }
}
