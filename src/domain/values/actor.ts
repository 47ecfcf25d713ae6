/**
 * The author of a change: an API key's id, a rail's name, "operator", "webhooks", or the id of an
 * operator. After the approval of a second person it is two ids, "opr_…,opr_…": first the
 * proposer's.
 */
export type Actor = string & { readonly brand: unique symbol };

/** The author of what the `kesc` command does in the database. */
export const OPERATOR = "operator" as Actor;
/** The author of what the delivery of webhooks finds out: that an endpoint must be disabled. */
export const WEBHOOKS = "webhooks" as Actor;

/** Whether an operator, or the `kesc` command on the database, is the author. */
export function isOfOperators(actor: Actor): boolean {
  const [proposer = ""] = actor.split(",");
  return proposer === OPERATOR || proposer.startsWith("opr_");
}
