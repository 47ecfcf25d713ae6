import type { ComponentChildren, VNode } from "preact";

import type { Refusal } from "../upstream/refusal.js";
import { Link } from "../view/link.js";
import { Refused } from "../view/parts.js";
import { Text, Time } from "../view/values.js";

/** The path of the page on which a person signs in. */
export const SIGN_IN_PATH = "/sign-in";

function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <main class="card">
      <span class="brand">KESC</span>
      <h1>{title}</h1>
      {children}
    </main>
  );
}

interface SignInProps {
  /** The page that was asked for. */
  readonly next: string;
  readonly refusal?: Refusal | undefined;
}

/** The page on which a person signs in. */
export function SignIn({ next, refusal }: SignInProps): VNode {
  return (
    <Card title="Sign in">
      {refusal === undefined ? null : <Refused refusal={refusal} />}
      <PasskeyForm kind="get" action={SIGN_IN_PATH} button="Use your passkey">
        <input type="hidden" name="next" value={next} />
      </PasskeyForm>
      <form method="post" action="/sign-in/code">
        <input type="hidden" name="next" value={next} />
        <label>
          Or a one-time code, or an invitation
          <input type="password" name="token" required maxLength={128} autoComplete="off" />
        </label>
        <button type="submit">Continue</button>
      </form>
      <p class="advice">
        Without a passkey: <code>kesc operator code</code> prints a code. It needs your key.
      </p>
    </Card>
  );
}

interface PasskeyFormProps {
  readonly kind: "get" | "create";
  readonly action: string;
  readonly button: string;
  readonly children: ComponentChildren;
}

/** A form that the script sends with the response of a passkey. */
export function PasskeyForm({ kind, action, button, children }: PasskeyFormProps): VNode {
  return (
    <form method="post" action={action} data-passkey={kind}>
      {children}
      <input type="hidden" name="response_json" value="" />
      <p role="alert" class="refused bad" hidden></p>
      <button type="submit" class="main">
        {button}
      </button>
      <noscript>
        <p>A passkey needs JavaScript. Use a code.</p>
      </noscript>
    </form>
  );
}

interface TokenProps {
  readonly token: string;
  readonly name: string;
  readonly expiresAt: string;
  readonly next: string;
}

/** A link of a stranger could sign a person in as somebody else, so the page asks with the name. */
export function ConfirmCode({ token, name, expiresAt, next }: TokenProps): VNode {
  return (
    <Card title="Is this you?">
      <form method="post" action={SIGN_IN_PATH}>
        <input type="hidden" name="code" value={token} />
        <input type="hidden" name="next" value={next} />
        <button type="submit" class="main">
          Sign in as <Text>{name}</Text>
        </button>
      </form>
      <p class="advice">
        The code ends at <Time>{expiresAt}</Time> EAT. A session that a code began moves no money, but in a sandbox.
      </p>
      <p>
        <Link to={SIGN_IN_PATH}>Sign in as somebody else</Link>
      </p>
    </Card>
  );
}

/** The page of an invitation. */
export function Invitation({ token, name, expiresAt }: TokenProps): VNode {
  return (
    <Card title="You are invited">
      <p>
        Register a passkey for <Text>{name}</Text>. Your device keeps it, and you sign in with it from then on.
      </p>
      <PasskeyForm kind="create" action="/invitation" button="Register a passkey">
        <input type="hidden" name="invitation" value={token} />
      </PasskeyForm>
      <p class="advice">
        The invitation ends at <Time>{expiresAt}</Time> EAT. It can be used once.
      </p>
    </Card>
  );
}

interface RegisteredProps {
  readonly passkeyId: string;
  /** Whether a second person must approve. */
  readonly isProposed: boolean;
}

export function Registered({ passkeyId, isProposed }: RegisteredProps): VNode {
  return (
    <Card title={isProposed ? "Waiting for approval" : "You can sign in"}>
      <p>
        {isProposed
          ? "Read this fingerprint of your passkey to the approver, by telephone or in person. Once the approver has compared and approved it, you can sign in."
          : "Your passkey is registered. This is its fingerprint:"}
      </p>
      <p class="fingerprint">{passkeyId}</p>
      <p>
        <Link to={SIGN_IN_PATH}>Sign in</Link>
      </p>
    </Card>
  );
}
