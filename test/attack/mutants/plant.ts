/** A bug that somebody could have written: what of one compiled file becomes what. */
export interface Mutant {
  readonly name: string;
  /** Below dist/. */
  readonly file: string;
  /** By the text that it replaces. Each such text stands in the file exactly once. */
  readonly edits: Readonly<Record<string, string>>;
}

/** The edits of each bug, by its file and its name. */
export type Bugs = Readonly<Record<Mutant["file"], Readonly<Record<Mutant["name"], Mutant["edits"]>>>>;

export function mutantsOf(bugs: Bugs): Mutant[] {
  return Object.entries(bugs).flatMap(([file, byName]) =>
    Object.entries(byName).map(([name, edits]) => ({ name, file, edits })),
  );
}

/**
 * Plants a mutant into the compiled code of its file. Throws unless each text stands there exactly
 * once: a mutant that no longer fits the code finds nothing out.
 */
export function plant({ edits }: Mutant, code: string): string {
  return Object.entries(edits).reduce((mutated, [from, to]) => {
    const times = mutated.split(from).length - 1;
    if (times !== 1) throw new Error(`found ${String(times)} times, not once: ${from}`);
    return mutated.replace(from, () => to);
  }, code);
}
