/** The author of a change: an API key's id, a rail's name, or "operator". */
export type Actor = string & { readonly brand: unique symbol };

/** The author of what the `kesc` command does. */
export const OPERATOR = "operator" as Actor;
