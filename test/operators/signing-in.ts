import { parseOperatorName, type Role } from "../../src/domain/operator.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Admin } from "../../src/gen/kesc/admin/v1/admin_service.js";
import {
  type CreateSessionResponse,
  SessionServiceService as Sessions,
  type VerifySessionResponse,
} from "../../src/gen/kesc/admin/v1/session_service.js";
import type { SignIn } from "../../src/operators/sign-in.js";
import { operatorParts } from "../../src/parts/operator-parts.js";
import { Authenticator } from "../support/authenticator.js";
import type { GrpcCaller, GrpcReply, Method } from "../support/callers/grpc-caller.js";
import { configOf } from "../support/config.js";
import type { ENGINES } from "../support/databases.js";
import { type OperatorService, startOperatorService } from "./given.js";

/** A person who has signed in. */
export interface SignedInPerson {
  readonly token: string;
  readonly sessionId: string;
  readonly operatorId: string;
  readonly passkey: Authenticator;
}

/** An operator service at which people sign in, with a clock of its own. */
export class SignInService {
  readonly service: OperatorService;
  readonly signIn: SignIn;
  readonly #clock: { now: number };

  private constructor(service: OperatorService, clock: { now: number }) {
    this.service = service;
    this.#clock = clock;
    const options = { now: () => this.now, fourEyes: new Set<never>(), hasCallbacks: false, isServer: true };
    this.signIn = operatorParts(service.opened.database, configOf(), options).signIn;
  }

  static async start(engine: (typeof ENGINES)[number]): Promise<SignInService> {
    const clock = { now: Date.now() };
    const service = await startOperatorService(engine, { now: () => toUnixMillis(clock.now) });
    return new SignInService(service, clock);
  }

  get now(): UnixMillis {
    return toUnixMillis(this.#clock.now);
  }

  get admin(): GrpcCaller {
    return this.service.admin[0];
  }

  /** Lets time pass. */
  pass(millis: number): void {
    this.#clock.now += millis;
  }

  async options(invitation = ""): Promise<string> {
    const { response } = await this.admin.call(Sessions.beginPasskey, { invitation });
    return response?.options_json ?? "";
  }

  /** An invitation by the machine, which needs no second person. */
  async invitation(name: string, ...roles: Role[]): Promise<string> {
    const parsed = parseOperatorName(name);
    if (!parsed.ok) throw new Error(parsed.problem);
    return (await this.signIn.invite({ name: parsed.value, roles }, undefined)).token;
  }

  /** Makes an operator with a passkey alone. */
  async person(name: string, ...roles: Role[]): Promise<Authenticator> {
    const invitation = await this.invitation(name, ...roles);
    const passkey = new Authenticator();
    const response_json = passkey.create(await this.options(invitation));
    const { reason } = await this.admin.call(Sessions.registerPasskey, { invitation, response_json });
    if (reason !== undefined) throw new Error(reason);
    return passkey;
  }

  async session(passkey: Authenticator): Promise<SignedInPerson> {
    const { response, reason } = await this.signedIn(passkey.get(await this.options()));
    const { token, session, operator } = response ?? {};
    if (token === undefined) throw new Error(reason);
    return { token, sessionId: session?.id ?? "", operatorId: operator?.id ?? "", passkey };
  }

  signedIn(response_json: string): Promise<GrpcReply<CreateSessionResponse | undefined>> {
    return this.admin.call(Sessions.createSession, { response_json, code: "" });
  }

  async verify({ token, passkey }: SignedInPerson): Promise<GrpcReply<VerifySessionResponse | undefined>> {
    return this.as({ token }, Sessions.verifySession, { response_json: passkey.get(await this.options()) });
  }

  as<Request, Response>(
    { token }: Pick<SignedInPerson, "token">,
    method: Method<Request, Response>,
    request: Partial<NoInfer<Request>> & { readonly organization_id?: string },
    metadata: Readonly<Record<string, string>> = {},
  ): Promise<GrpcReply<Response | undefined>> {
    const sent = { authorization: `Bearer ${token}`, ...metadata };
    return this.admin.call(method, request, { metadata: sent, ...this.soon });
  }

  /** A deadline after the time that has passed here. */
  get soon(): { readonly deadlineMillis: number } {
    // The clock stands still, and real time passes it on a busy machine.
    return { deadlineMillis: Math.max(0, this.#clock.now - Date.now()) + 10_000 };
  }

  /** Returns the reason why a session is refused. Undefined if it works. */
  async refusalOf(person: Pick<SignedInPerson, "token">): Promise<string | undefined> {
    return (await this.as(person, Admin.whoAmI, {})).reason;
  }
}
