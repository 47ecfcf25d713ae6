import type { OperatorId } from "../../domain/values/ids.js";
import type { CreateInvitationRequest } from "../../gen/kesc/admin/v1/session_service.js";
import { type Operator, parseOperatorName, type Role } from "../../operators/operator.js";
import type { SignIn } from "../../operators/sign-in.js";
import type { Invited } from "../../operators/sign-in-ports.js";
import { done, refuse, type RpcResult } from "../calls/rpc-result.js";
import { fieldProblem, type ParsedFields, parseFields } from "../messages/fields.js";
import { toTimestamp } from "../messages/timestamp.js";
import { fields, parseId } from "./fields.js";
import { toOperator, toSession } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { changeOperator } from "./operator-rpcs.js";
import type { HandlersOptions } from "./options.js";
import { pageInMemory, parsePage } from "./pages.js";
import { NEEDS_PERSON } from "./results.js";
import { parseRoles } from "./roles.js";

export interface SessionRpcsOptions extends HandlersOptions {
  readonly signIn: SignIn;
}

const SEES_OTHERS: readonly Role[] = ["viewer", "admin"];
const ENDS_OTHERS: readonly Role[] = ["admin"];

/** The rpcs of the SessionService that need no key. */
export function signInRpcs(open: OperatorUnary, options: SessionRpcsOptions): Record<string, OperatorRoute> {
  const { signIn } = options;
  return {
    beginPasskey: open("beginPasskey", {
      parse: ({ invitation }) => parseFields({ invitation: { ok: true, value: invitation } }),
      run: async ({ invitation }) => {
        const begun = await signIn.begin(invitation);
        return begun.kind === "refused" ? begun : done({ options_json: begun.value });
      },
    }),
    getSignInToken: open("getSignInToken", {
      parse: ({ token }) => required({ token }),
      run: async ({ token }) => {
        const found = await signIn.describe(token);
        if (found.kind === "refused") return found;
        const { operatorName, expiresAt } = found.value;
        return done({ operator_name: operatorName, expires_at: toTimestamp(expiresAt) });
      },
    }),
    createSession: open("createSession", {
      parse: ({ response_json: responseJson, code }) =>
        (responseJson === "") === (code === "")
          ? fieldProblem("response_json", "must be there, or code, and not both", "CONFLICT")
          : { ok: true, value: { responseJson, code } },
      run: async ({ responseJson, code }) => {
        const signed = await (code === "" ? signIn.withPasskey(responseJson) : signIn.withCode(code));
        if (signed.kind === "refused") return signed;
        const { token, session, operator } = signed.value;
        return done({ token, session: toSession(session, operator), operator: toOperator(operator) });
      },
    }),
    registerPasskey: open("registerPasskey", {
      parse: ({ invitation, response_json }) => required({ invitation, response_json }),
      run: async ({ invitation, response_json: responseJson }) => {
        const registered = await signIn.register(invitation, responseJson);
        if (registered.kind === "refused") return registered;
        const { passkeyId: passkey_id, made } = registered.value;
        return "roles" in made
          ? done({ passkey_id, operator: toOperator(made) })
          : { ...done({ passkey_id, operator: undefined }), proposalId: made.id };
      },
    }),
  };
}

/** The rpcs of the SessionService for people who are known. */
export function sessionRpcs(unary: OperatorUnary, options: SessionRpcsOptions): Record<string, OperatorRoute> {
  const { administration, signIn } = options;
  return {
    verifySession: unary("verifySession", {
      parse: ({ response_json }) => required({ response_json }),
      run: async ({ response_json: responseJson }, { key: by }) => {
        if (by?.session === undefined) return refuse({ reason: "SIGN_IN_REFUSED" });
        const verified = await signIn.verify(by.session, responseJson);
        return verified.kind === "refused" ? verified : done({ session: toSession(verified.value, by) });
      },
    }),
    endSession: unary("endSession", {
      parse: ({ session_id: id }, { key }) =>
        id === "" && key?.session === undefined
          ? fieldProblem("session_id", "is required for a call without a session", "REQUIRED")
          : { ok: true, value: { id: id === "" ? (key?.session?.id ?? "") : id } },
      run: async ({ id }, { key: by }) => {
        const sessions = await signIn.sessions(await administration.operators());
        const session = sessions.find((each) => each.id === id);
        if (session !== undefined && !isOwnOr(ENDS_OTHERS, by, session.operatorId)) return lacks(ENDS_OTHERS);
        return { ...done({}), replayed: !(session !== undefined && (await signIn.end(id))) };
      },
    }),
    listSessions: unary("listSessions", {
      parse: ({ operator_id: id, ...page }) => {
        const asked = parsePage(page, { rpc: "ListSessions", filters: { operator_id: id } });
        return asked.ok ? { ok: true, value: { id, asked: asked.value } } : asked;
      },
      run: async ({ id, asked }, { key: by }) => {
        if (id !== "" && !isOwnOr(SEES_OTHERS, by, id)) return lacks(SEES_OTHERS);
        const operators = await administration.operators();
        const isAsked = (owner: string): boolean => (id === "" ? isOwnOr(SEES_OTHERS, by, owner) : owner === id);
        const byId = new Map(operators.map((operator) => [operator.id, operator]));
        const sessions = await signIn.sessions(operators);
        const { items, ...next } = pageInMemory(sessions, asked, ({ operatorId }) => isAsked(operatorId));
        return done({ sessions: items.map((each) => toSession(each, byId.get(each.operatorId))), ...next });
      },
    }),
    createInvitation: createInvitation(unary, options),
    removePasskey: removePasskey(unary, options),
    createSignInCode: unary("createSignInCode", {
      ...fields(),
      run: async (_input, { key: by }) => {
        // A session could otherwise outlive its 12 hours.
        if (by?.keySha256 === undefined || by.session !== undefined) return NEEDS_PERSON;
        const { token: code, link, expiresAt } = await signIn.createCode(by, by.keySha256);
        return done({ code, link, expires_at: toTimestamp(expiresAt) });
      },
    }),
  };
}

function removePasskey(unary: OperatorUnary, options: SessionRpcsOptions): OperatorRoute {
  return unary("removePasskey", {
    ...fields("operator_id", "passkey_id"),
    run: async ({ operatorId, passkeyId }, { key: by }) => {
      if (!isOwnOr(ENDS_OTHERS, by, operatorId)) return lacks(ENDS_OTHERS);
      return changeOperator(options, { kind: "operator.remove_passkey", operatorId, passkeyId }, by);
    },
  });
}

function createInvitation(unary: OperatorUnary, { administration, signIn }: SessionRpcsOptions): OperatorRoute {
  return unary("createInvitation", {
    parse: parseInvited,
    run: async (invited, { key: by }) => {
      const operators = await administration.operators();
      if ("operatorId" in invited) {
        const { operatorId } = invited;
        const found = operators.find(({ id }) => id === operatorId);
        if (found === undefined) return refuse({ reason: "OPERATOR_NOT_FOUND", operatorId });
        if (found.revokedAt !== undefined) return refuse({ reason: "OPERATOR_REVOKED", operatorId });
      } else {
        const named = operators.find(({ name }) => name.toLowerCase() === invited.name.toLowerCase());
        if (named !== undefined) return refuse({ reason: "OPERATOR_ALREADY_EXISTS", operatorId: named.id });
      }
      const { token, link, expiresAt } = await signIn.invite(invited, by);
      return done({ token, link, expires_at: toTimestamp(expiresAt) });
    },
  });
}

function parseInvited({ name, roles, operator_id: id }: CreateInvitationRequest): ParsedFields<Invited> {
  if (id === "") return parseFields({ name: parseOperatorName(name), roles: parseRoles(roles) });
  if (name !== "") return fieldProblem("name", "must be empty with operator_id", "CONFLICT");
  if (roles.length > 0) return fieldProblem("roles", "must be empty with operator_id", "CONFLICT");
  const parsed = parseFields({ operator_id: parseId<OperatorId>(id) });
  return parsed.ok ? { ok: true, value: { operatorId: parsed.value.operator_id } } : parsed;
}

/** The machine has each right. */
function isOwnOr(roles: readonly Role[], by: Operator | undefined, operatorId: string): boolean {
  return by === undefined || by.id === operatorId || by.roles.some((role) => roles.includes(role));
}

function lacks(roles: readonly Role[]): RpcResult<never> {
  return refuse({ reason: "ROLE_REQUIRED", roles });
}

/** Parses texts that must be there. What is wrong with one is found later, and not told. */
function required<Name extends string>(texts: Readonly<Record<Name, string>>): ParsedFields<Record<Name, string>> {
  const missing = Object.entries(texts).filter(([, text]) => text === "");
  return missing.length === 0
    ? { ok: true, value: texts }
    : { ok: false, fields: missing.map(([field]) => ({ field, message: "is required", code: "REQUIRED" })) };
}
