import type { Actor } from "../../domain/values/actor.js";
import type { Session } from "../sql/engine.js";

/** Who acts. Without it, the operator does, as the `kesc` command on the database. */
export interface Authorship {
  readonly actor: Actor;
  /** Runs first in the transaction of the act. The act is not done if it rejects. */
  readonly first?: ((session: Session) => Promise<void>) | undefined;
}
