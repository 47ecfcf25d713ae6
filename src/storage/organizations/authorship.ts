import type { Refusal } from "../../domain/refusal.js";
import type { Actor } from "../../domain/values/actor.js";
import type { Session } from "../sql/engine.js";

/** Who makes an organization. Without it, the `kesc` command on the database does. */
export interface Authorship {
  readonly actor: Actor;
  /** Runs first in the transaction. Nothing is made if there is a refusal. */
  readonly refusal: (session: Session) => Promise<Refusal | undefined>;
}
