import { CONFUSABLES } from "./confusables.js";

/**
 * Returns the normal form of what names a person, an operator or a key: NFKC, in one case, without
 * what nobody sees. Every comparison and look-up by such a text uses this form, and nothing stores
 * it: the text itself stays byte for byte.
 */
export function normalName(text: string): string {
  const visible = text.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  return folded(visible).replaceAll(/\s+/g, " ").trim();
}

/**
 * Returns whether a reader can take one name for the other: they have one normal form, or one
 * skeleton as UTS 39 defines it. Their skeletons are compared as the names are written, and in one
 * case. Accents make no difference, either.
 */
export function looksLike(one: string, other: string): boolean {
  return skeleton(one) === skeleton(other) || skeleton(normalName(one)) === skeleton(normalName(other));
}

/** Returns whether a reader finds the name, or one that looks like it, anywhere in the text. */
export function hasLookalike(text: string, name: string): boolean {
  return skeleton(normalName(text)).includes(skeleton(normalName(name)));
}

function skeleton(text: string): string {
  // Only the accents of all scripts are inherited. The signs of Indic vowels are of their script.
  const bare = text.normalize("NFKD").replaceAll(/\p{Default_Ignorable_Code_Point}|\p{Script=Inherited}/gu, "");
  const shown = Array.from(bare, (character) => CONFUSABLES.get(character) ?? character).join("");
  return folded(shown).replaceAll(/\s+/g, " ").trim();
}

/** Capitals first: that also folds what has no small letter of its own, such as "ſ" and "ß". */
function folded(text: string): string {
  return text.toUpperCase().toLowerCase().normalize("NFKC");
}
