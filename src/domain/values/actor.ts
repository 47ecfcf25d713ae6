/**
 * The author of a change: an API key's id, a rail's name, "operator", "webhooks", "payouts",
 * "checks" or "demo", or the id of an operator. After the approval of a second person it is two
 * ids, "opr_…,opr_…": first the proposer's.
 */
export type Actor = string & { readonly brand: unique symbol };

/** The author of what the `kesc` command does in the database. */
export const OPERATOR = "operator" as Actor;
/** The author of the operators of `kesc serve --demo`. */
export const DEMO = "demo" as Actor;
/** The author of what the delivery of webhooks finds out: that an endpoint must be disabled. */
export const WEBHOOKS = "webhooks" as Actor;

/** The author of the redemptions of an approved file. Its approval names the persons. */
export const PAYOUTS = "payouts" as Actor;

/** The author of what the organization's check of payouts decides. */
export const CHECKS = "checks" as Actor;

/** Whether no person is the author: the `kesc` command on the database, or that of the demo. */
export function isOfMachine(actor: string): boolean {
  return actor === OPERATOR || actor === DEMO;
}

/** Whether an operator, or the `kesc` command on the database, is the author. */
export function isOfOperators(actor: Actor): boolean {
  const [proposer = ""] = actor.split(",");
  return proposer === OPERATOR || proposer.startsWith("opr_");
}
