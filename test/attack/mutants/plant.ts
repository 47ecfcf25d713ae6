/** A bug that somebody could have written: what of one compiled file becomes what. */
export interface Mutant {
  readonly name: string;
  /** Below dist/. */
  readonly file: string;
  /** Each text stands in the file exactly once. */
  readonly edits: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Plants a mutant into the compiled code of its file. Throws unless each text stands there exactly
 * once: a mutant that no longer fits the code finds nothing out.
 */
export function plant({ edits }: Mutant, code: string): string {
  return edits.reduce((mutated, { from, to }) => {
    const times = mutated.split(from).length - 1;
    if (times !== 1) throw new Error(`found ${String(times)} times, not once: ${from}`);
    return mutated.replace(from, () => to);
  }, code);
}
