/** The author of a change: an API key's id, a rail's name, "operator", or "webhooks". */
export type Actor = string & { readonly brand: unique symbol };

/** The author of what the `kesc` command does. */
export const OPERATOR = "operator" as Actor;
/** The author of what the delivery of webhooks finds out: that an endpoint must be disabled. */
export const WEBHOOKS = "webhooks" as Actor;
