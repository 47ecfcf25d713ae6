import { TLSSocket } from "node:tls";

import type { Express, Request, Response } from "express";

import { fitsForm, TOKEN_FIELD } from "./http/forms.js";
import { PerMinute } from "./http/limits.js";
import { stateOf } from "./http/request-state.js";
import { ConfirmCode, Invitation, Registered, SIGN_IN_PATH, SignIn } from "./pages/sign-in.js";
import { formOf, type PageDependencies, send, sendPlain } from "./reply.js";
import type { Fields } from "./upstream/contract.js";
import type { Refusal } from "./upstream/refusal.js";
import type { ActedOf, RpcName } from "./upstream/upstream.js";
import { isOwnPath } from "./view/link.js";

// Of each step, for one address: a passkey takes two steps.
const STEPS_PER_MINUTE = 10;

/** Adds the pages of people who have not signed in. */
export function addSignIn(app: Express, deps: PageDependencies): void {
  const signIn = new SignInSteps(deps);
  const tries = new PerMinute(STEPS_PER_MINUTE);
  const mayTry = (path: string, req: Request, res: Response): boolean => {
    stateOf(res).route = path;
    if (tries.take(`${path} ${addressOf(req, deps.origin)}`)) return true;
    res.set("Retry-After", "60");
    sendPlain(res, 429, "Too many tries", "This address has tried ten times in a minute. Wait a minute.");
    return false;
  };
  for (const path of [SIGN_IN_PATH, "/invitation"]) {
    app.get(path, async (req, res) => {
      stateOf(res).route = path;
      const query = new URL(req.url, deps.origin).searchParams;
      const code = query.get("code");
      // A preview of the link in a chat does not use the code up: only a form does.
      if (code === null) send(res, 200, "Sign in", <SignIn next={nextOf(query.get("next"))} />);
      else if (mayTry(`GET ${path}`, req, res)) await signIn.confirm({ token: code }, res);
    });
  }
  const steps: Readonly<Record<string, Step>> = {
    "/sign-in/options": (form, res) => signIn.sendOptions(form, res),
    "/sign-in/code": (form, res) => signIn.confirm(form, res),
    [SIGN_IN_PATH]: (form, res) => signIn.begin(form, res),
    "/invitation": (form, res) => signIn.register(form, res),
  };
  for (const [path, step] of Object.entries(steps)) {
    app.post(path, async (req, res) => {
      if (mayTry(path, req, res)) await step(formOf(req), res);
    });
  }
  app.post("/sign-out", async (req, res) => {
    stateOf(res).route = "/sign-out";
    const token = deps.cookie.read(req);
    if (token !== undefined && fitsForm(token, "/sign-out", formOf(req)[TOKEN_FIELD])) {
      await deps.upstream.act("SessionService/EndSession", {}, { token, requestId: stateOf(res).requestId });
      deps.cookie.clear(res);
      // Not "cookies": that would remove those of every other name of the company's domain.
      res.set("Clear-Site-Data", '"cache", "storage"');
    }
    res.redirect(303, SIGN_IN_PATH);
  });
}

type Form = Readonly<Record<string, string>>;
type Step = (form: Form, res: Response) => Promise<void>;

/** The steps of a sign-in. The server decides each of them. */
class SignInSteps {
  readonly #deps: PageDependencies;

  constructor(deps: PageDependencies) {
    this.#deps = deps;
  }

  /** Sends the options of the browser's call, as JSON. */
  async sendOptions({ invitation = "" }: Form, res: Response): Promise<void> {
    const begun = await this.#act("SessionService/BeginPasskey", { invitation }, res);
    if (begun.ok) res.type("application/json").send(begun.value.options_json);
    else res.status(403).type("text/plain").send(begun.refusal.text);
  }

  /** Asks the person whether the code or the invitation is meant for them. */
  async confirm({ token: text = "", next }: Form, res: Response): Promise<void> {
    const token = text.trim();
    const found = await this.#act("SessionService/GetSignInToken", { token }, res);
    if (!found.ok) {
      this.#refuse(res, found.refusal, next);
      return;
    }
    const { operator_name: name, expires_at: expiresAt } = found.value;
    const props = { token, name, expiresAt, next: nextOf(next) };
    const isInvitation = token.startsWith("kesc_inv_");
    send(res, 200, "Sign in", isInvitation ? <Invitation {...props} /> : <ConfirmCode {...props} />);
  }

  /** Begins a session with the response of a passkey, or with a code. */
  async begin({ response_json = "", code = "", next }: Form, res: Response): Promise<void> {
    const created = await this.#act("SessionService/CreateSession", { response_json, code }, res);
    if (!created.ok) {
      this.#refuse(res, created.refusal, next);
      return;
    }
    this.#deps.cookie.set(res, created.value.token);
    res.redirect(303, nextOf(next));
  }

  /** Registers the passkey of an invited person. */
  async register({ invitation = "", response_json = "" }: Form, res: Response): Promise<void> {
    const registered = await this.#act("SessionService/RegisterPasskey", { invitation, response_json }, res);
    if (!registered.ok) {
      this.#refuse(res, registered.refusal, undefined);
      return;
    }
    const { passkey_id: passkeyId, proposal } = registered.value;
    const page = <Registered passkeyId={passkeyId} isProposed={proposal !== undefined} />;
    send(res, 200, "Your passkey", page);
  }

  #act<Rpc extends RpcName>(rpc: Rpc, fields: Fields, res: Response): Promise<ActedOf<Rpc>> {
    const { requestId } = stateOf(res);
    return this.#deps.upstream.act(rpc, fields, { token: undefined, requestId });
  }

  #refuse(res: Response, refusal: Refusal, next: string | undefined): void {
    send(res, 403, "Sign in", <SignIn next={nextOf(next)} refusal={refusal} />);
  }
}

/** Returns the page to open after the sign-in: one of the console, and no other site. */
function nextOf(next: string | null | undefined): string {
  return next !== null && next !== undefined && isOwnPath(next) && next.startsWith("/") ? next : "/";
}

/**
 * Returns the address of the browser. If the origin is https, and the console ends no TLS, a proxy
 * does, and adds the address to X-Forwarded-For. By the proxy's own address, one stranger could use
 * up all tries. Without a proxy, a stranger could forge the header and have as many as he likes.
 */
function addressOf(req: Request, origin: string): string {
  const peer = req.socket.remoteAddress ?? "";
  const forwarded = req.headers["x-forwarded-for"];
  const isBehindProxy = origin.startsWith("https:") && !(req.socket instanceof TLSSocket);
  if (!isBehindProxy || typeof forwarded !== "string") return peer;
  return forwarded.split(",").at(-1)?.trim() ?? peer;
}
