import type { UnixMillis } from "../domain/values/time.js";
import { PasskeyChecks } from "../operators/passkeys.js";
import { SignIn } from "../operators/sign-in.js";
import type { Database } from "../storage/database.js";
import type { StoredAdministration } from "../storage/operators/administration.js";
import { StoredSignIn } from "../storage/operators/sign-in.js";

/** Makes the sign-in for consoles of this origin. */
export function signIn(
  { cells }: Database,
  administration: StoredAdministration,
  { consoleOrigin, now }: { readonly consoleOrigin: string; readonly now: () => UnixMillis },
): SignIn {
  const store = new StoredSignIn(cells[0], administration, now);
  return new SignIn({ store, passkeys: new PasskeyChecks(consoleOrigin), now });
}
