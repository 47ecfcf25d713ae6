import { type Operator, parseOperatorName, type Role } from "../../../domain/operator.js";
import { looksLike } from "../../../domain/values/names-of-persons.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import type { CreateInvitationRequest } from "../../../gen/kesc/admin/v1/session_service.js";
import type { OperatorSession } from "../../../operators/session.js";
import type { OrRefused } from "../../../operators/sign-in.js";
import type { Invited } from "../../../operators/sign-in-ports.js";
import { houseRpc } from "../../calls/admin-rpc.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, NEEDS_PERSON, refuse, type RpcResult } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { fieldProblem, type ParsedFields, parseFields } from "../../messages/fields.js";
import { fields } from "../../messages/operators/fields.js";
import { toOperator, toSession } from "../../messages/operators/messages.js";
import { parseRoles } from "../../messages/operators/roles.js";
import { toTimestamp } from "../../messages/timestamp.js";
import type { HandlersOptions } from "../operator-options.js";
import { listInTurn, parsePage } from "../pages.js";
import { submitPersonAct } from "./operator-rpcs.js";

const SEES_OTHERS: readonly Role[] = ["viewer", "admin"];
const ENDS_OTHERS: readonly Role[] = ["admin"];

// What is wrong with one of these texts is found later, and not told.
const texts = fieldsOf({ invitation: present, response_json: present, token: present });

/** The rpcs of the SessionService that need no key. */
export function signInRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { signIn } = options;
  return {
    beginPasskey: houseRpc("beginPasskey", {
      isPublic: true,
      ...texts("invitation?"),
      run: ({ invitation }) => told(signIn.begin(invitation), (options_json) => ({ options_json })),
    }),
    getSignInToken: houseRpc("getSignInToken", {
      isPublic: true,
      ...texts("token"),
      run: ({ token }) =>
        told(signIn.describe(token), ({ operatorName, expiresAt }) => {
          return { operator_name: operatorName, expires_at: toTimestamp(expiresAt) };
        }),
    }),
    createSession: houseRpc("createSession", {
      isPublic: true,
      parse: ({ response_json: responseJson, code }) =>
        (responseJson === "") === (code === "")
          ? fieldProblem("response_json", "must be there, or code, and not both", "CONFLICT")
          : { ok: true, value: { responseJson, code } },
      run: ({ responseJson, code }) =>
        told(
          code === "" ? signIn.withPasskey(responseJson) : signIn.withCode(code),
          ({ token, session, operator }) => ({
            token,
            session: toSession(session, operator),
            operator: toOperator(operator),
          }),
        ),
    }),
    registerPasskey: houseRpc("registerPasskey", {
      isPublic: true,
      ...texts("invitation", "response_json"),
      run: async ({ invitation, responseJson }) => {
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
export function sessionRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { administration, listTurns, signIn } = options;
  return {
    verifySession: houseRpc("verifySession", {
      ...texts("response_json"),
      run: async ({ responseJson }, { who: { operator: by } }) =>
        by?.session === undefined
          ? refuse({ reason: "SIGN_IN_REFUSED" })
          : told(signIn.verify(by.session, responseJson), (session) => ({ session: toSession(session, by) })),
    }),
    endSession: houseRpc("endSession", {
      parse: ({ session_id: id }, { who: { operator: by } }) =>
        id === "" && by?.session === undefined
          ? fieldProblem("session_id", "is required for a call without a session", "REQUIRED")
          : { ok: true, value: { id: id === "" ? (by?.session?.id ?? "") : id } },
      run: async ({ id }, { who: { operator: by } }) => {
        const sessions = await signIn.sessions(await administration.operators());
        const session = sessions.find((each) => each.id === id);
        if (session !== undefined && !isOwnOr(ENDS_OTHERS, by, session.operatorId)) return lacks(ENDS_OTHERS);
        return { ...done({}), replayed: !(session !== undefined && (await signIn.end(id))) };
      },
    }),
    listSessions: houseRpc("listSessions", {
      parse: ({ operator_id: id, ...page }) => parsePage(page, "ListSessions", { operator_id: id }),
      run: async (asked, caller) => {
        const { operator_id: id } = asked.list.filters;
        const { operator: by } = caller.who;
        if (id !== "" && !isOwnOr(SEES_OTHERS, by, id)) return lacks(SEES_OTHERS);
        const isAsked = (owner: string): boolean => (id === "" ? isOwnOr(SEES_OTHERS, by, owner) : owner === id);
        return listInTurn(
          { listTurns, caller, asked, matches: ({ operatorId }: OperatorSession) => isAsked(operatorId) },
          async () => {
            const operators = await administration.operators();
            return { items: await signIn.sessions(operators), byId: new Map(operators.map((each) => [each.id, each])) };
          },
          ({ items, ...next }, { byId }) => ({
            sessions: items.map((each) => toSession(each, byId.get(each.operatorId))),
            ...next,
          }),
        );
      },
    }),
    createInvitation: createInvitation(options),
    removePasskey: houseRpc("removePasskey", {
      ...fields("operator_id", "passkey_id"),
      run: async ({ operatorId, passkeyId }, { who: { operator: by } }) =>
        isOwnOr(ENDS_OTHERS, by, operatorId)
          ? submitPersonAct(options, { name: "removePasskey", operatorId, passkeyId }, by)
          : lacks(ENDS_OTHERS),
    }),
    createSignInCode: houseRpc("createSignInCode", {
      ...fields(),
      run: async (_input, { who: { operator: by } }) => {
        // A session could otherwise outlive its 12 hours.
        if (by?.keySha256 === undefined || by.session !== undefined) return NEEDS_PERSON;
        const { token: code, link, expiresAt } = await signIn.createCode(by, by.keySha256);
        return done({ code, link, expires_at: toTimestamp(expiresAt) });
      },
    }),
  };
}

function createInvitation({ administration, signIn }: HandlersOptions): RpcRoute {
  return houseRpc("createInvitation", {
    parse: parseInvited,
    run: async (invited, { who: { operator: by } }) => {
      const operators = await administration.operators();
      if ("operatorId" in invited) {
        const { operatorId } = invited;
        const found = operators.find(({ id }) => id === operatorId);
        if (found === undefined) return refuse({ reason: "OPERATOR_NOT_FOUND", operatorId });
        if (found.revokedAt !== undefined) return refuse({ reason: "OPERATOR_REVOKED", operatorId });
      } else {
        const named = operators.find(({ name }) => looksLike(name, invited.name));
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
  return fields("operator_id").parse({ operator_id: id });
}

/** The machine has each right. */
function isOwnOr(roles: readonly Role[], by: Operator | undefined, operatorId: string): boolean {
  return by === undefined || by.id === operatorId || by.roles.some((role) => roles.includes(role));
}

function lacks(roles: readonly Role[]): RpcResult<never> {
  return refuse({ reason: "ROLE_REQUIRED", roles });
}

/** Makes the result of an rpc from what the sign-in returns. */
async function told<Value, Response>(
  work: Promise<OrRefused<Value>>,
  responseOf: (value: Value) => Response | Promise<Response>,
): Promise<RpcResult<Response>> {
  const result = await work;
  return result.kind === "refused" ? result : done(await responseOf(result.value));
}

function present(unchecked: string): Parsed<string> {
  return unchecked === "" ? unparsed("is required", "REQUIRED") : parsed(unchecked);
}
