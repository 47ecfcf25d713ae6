import { typeidUnboxed } from "typeid-js";

import type { OperatorId } from "../../domain/values/ids.js";
import { looksLike } from "../../domain/values/names-of-persons.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { OPERATOR_ACTS } from "../../model/database.js";
import type { Act, ActOf } from "../../operators/act.js";
import { type Operator, type OperatorName, passkeyIdOf, type Role } from "../../operators/operator.js";
import type { OperatorAct } from "../../operators/ports.js";
import { RefusedActError } from "./refused.js";

/** What an act changes, as its row has it. */
export type RowOfAct = Omit<RowOf<typeof OPERATOR_ACTS>, "seq" | "kind" | "actor" | "recorded_at" | "hash"> & {
  readonly kind: OperatorAct["kind"];
};

export type RecordedChange = RowOfAct & Pick<RowOf<typeof OPERATOR_ACTS>, "recorded_at">;

/** Returns the operators that the acts have made, in the order of their first acts. */
export function operatorsOf(rows: readonly RecordedChange[]): readonly Operator[] {
  const operators = new Map<string, Operator>();
  for (const row of rows) {
    const before = operators.get(row.operator_id);
    if ((before === undefined) !== (row.kind === "operator.created")) {
      throw new Error(`an act before the one that created ${row.operator_id}, or a second one`);
    }
    operators.set(row.operator_id, afterChange(before ?? newOperator(row), row));
  }
  return [...operators.values()];
}

function newOperator({ operator_id: id, name, recorded_at: at }: RecordedChange): Operator {
  return {
    id: id as OperatorId,
    name: (name ?? "") as OperatorName,
    roles: [],
    createdAt: toUnixMillis(at),
    revokedAt: undefined,
    history: [],
    keySha256: undefined,
    passkeys: [],
  };
}

function afterChange(before: Operator, row: RecordedChange): Operator {
  const { kind, roles, key_sha256: key, passkey_sha256: sha256, recorded_at: at } = row;
  const createdAt = toUnixMillis(at);
  const history = (now: readonly Role[]) => [...before.history, { at: createdAt, roles: now }];
  if (kind === "operator.revoked") return { ...before, revokedAt: createdAt, history: history([]), passkeys: [] };
  const others = before.passkeys.filter((passkey) => passkey.sha256 !== sha256);
  const added =
    sha256 === null || kind === "operator.passkey_removed" ? [] : [{ id: passkeyIdOf(sha256), sha256, createdAt }];
  return {
    ...before,
    ...(roles === null ? {} : { roles: rolesIn(roles), history: history(rolesIn(roles)) }),
    keySha256: key ?? before.keySha256,
    passkeys: [...others, ...added],
  };
}

function rolesIn(text: string): readonly Role[] {
  return text.split(" ") as Role[];
}

const NONE = { name: null, roles: null, key_sha256: null, passkey_sha256: null };

/** Returns what the act changes, or undefined if all is so already. Throws a RefusedActError. */
export function changeOf(act: Act, rows: readonly RecordedChange[]): RowOfAct | undefined {
  const operators = operatorsOf(rows);
  if (act.kind === "operator.create") return creation(act, operators, rows);
  const { operatorId } = act;
  const found = operators.find(({ id }) => id === operatorId);
  if (found === undefined) throw new RefusedActError({ reason: "OPERATOR_NOT_FOUND", operatorId });
  const change = { ...NONE, operator_id: operatorId };
  if (act.kind === "operator.revoke") {
    return found.revokedAt === undefined ? { ...change, kind: "operator.revoked" } : undefined;
  }
  if (found.revokedAt !== undefined) throw new RefusedActError({ reason: "OPERATOR_REVOKED", operatorId });
  switch (act.kind) {
    case "operator.set_roles": {
      const roles = act.roles.join(" ");
      return found.roles.join(" ") === roles ? undefined : { ...change, kind: "operator.roles_changed", roles };
    }
    case "operator.replace_key":
      if (found.keySha256 === act.keySha256) return undefined;
      refuseKnown(holderOf(act.keySha256, rows));
      return { ...change, kind: "operator.key_replaced", key_sha256: act.keySha256 };
    case "operator.add_passkey":
      if (found.passkeys.some(({ sha256 }) => sha256 === act.passkeySha256)) return undefined;
      refuseKnown(holderOf(act.passkeySha256, rows));
      return { ...change, kind: "operator.passkey_added", passkey_sha256: act.passkeySha256 };
    case "operator.remove_passkey":
      return removal(act, found, rows);
  }
}

function creation(
  act: ActOf<"operator.create">,
  operators: readonly Operator[],
  rows: readonly RecordedChange[],
): RowOfAct {
  const named = operators.find(({ name }) => looksLike(name, act.name));
  refuseKnown(named?.id);
  const isOfPasskey = "passkeySha256" in act;
  const sha256 = isOfPasskey ? act.passkeySha256 : act.keySha256;
  refuseKnown(holderOf(sha256, rows));
  return {
    kind: "operator.created",
    operator_id: typeidUnboxed("opr"),
    name: act.name,
    roles: act.roles.join(" "),
    key_sha256: isOfPasskey ? null : sha256,
    passkey_sha256: isOfPasskey ? sha256 : null,
  };
}

function removal(
  { operatorId, passkeyId }: ActOf<"operator.remove_passkey">,
  { passkeys }: Operator,
  rows: readonly RecordedChange[],
): RowOfAct | undefined {
  const passkey = passkeys.find(({ id }) => id === passkeyId);
  if (passkey !== undefined) {
    return { ...NONE, kind: "operator.passkey_removed", operator_id: operatorId, passkey_sha256: passkey.sha256 };
  }
  const wasThere = rows.some(({ operator_id: id, passkey_sha256: sha256 }) => {
    return id === operatorId && sha256 !== null && passkeyIdOf(sha256) === passkeyId;
  });
  if (wasThere) return undefined;
  throw new RefusedActError({ reason: "PASSKEY_NOT_FOUND", operatorId, passkeyId });
}

/** Returns the operator who has, or once had, the key or the passkey. */
function holderOf(sha256: string, rows: readonly RecordedChange[]): OperatorId | undefined {
  const row = rows.find(({ key_sha256: key, passkey_sha256: passkey }) => key === sha256 || passkey === sha256);
  return row?.operator_id as OperatorId | undefined;
}

function refuseKnown(operatorId: OperatorId | undefined): void {
  if (operatorId !== undefined) throw new RefusedActError({ reason: "OPERATOR_ALREADY_EXISTS", operatorId });
}
