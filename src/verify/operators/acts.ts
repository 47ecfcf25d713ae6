import { isOfMachine } from "../../domain/values/actor.js";
import type { RowOf } from "../../model/column.js";
import type { OPERATOR_ACTS } from "../../model/database.js";
import type { Audit, AuditedOperator } from "../audit.js";
import type { Place } from "../findings.js";
import { guarded } from "../guarded.js";
import type { RowOfChain } from "./chain.js";

type AuditedActRow = RowOf<typeof OPERATOR_ACTS, string>;

/** What the acts say of the operators. */
export interface AuditedActs {
  /** The SHA-256 of every key that one ever had, and the same of passkeys. */
  readonly keys: ReadonlySet<string>;
  readonly passkeys: ReadonlySet<string>;
  /** The acts as the chain must have them. */
  readonly chained: readonly RowOfChain[];
}

/**
 * Audits the acts on operators: their order, and whether each actor had the right at that moment.
 * Adds the operators to the audit.
 */
export async function auditOperatorActs(audit: Audit): Promise<AuditedActs> {
  const { engine, findings, operators } = audit;
  const rows = await audit.rows<AuditedActRow>(
    `SELECT seq, kind, operator_id, name, roles, key_sha256, passkey_sha256, actor, recorded_at
     FROM ${engine.table("operator_acts")} ORDER BY seq`,
  );
  const own = findings.of(undefined);
  let last = { seq: 0, recorded_at: 0 };
  const check = (row: AuditedActRow, place: Place): void => {
    own.compareFields(place, { seq: [last.seq + 1, row.seq] });
    if (row.recorded_at < last.recorded_at) {
      own.add(place, {
        expected: `recorded_at ${String(last.recorded_at)} or later`,
        found: `recorded_at ${String(row.recorded_at)}`,
      });
    }
    // The chain has an empty text in the place of NULL.
    if ([row.name, row.roles, row.key_sha256, row.passkey_sha256].includes("")) {
      own.add(place, { expected: "no empty text", found: "one" });
    }
    const problem = problemOf(row, operators);
    if (problem !== undefined) own.add(place, problem);
    apply(row, operators);
    audit.coverage.actsWithoutPerson.aboutOperators(row);
    last = row;
  };
  for (const row of rows) {
    const place = { seq: row.seq, table: "operator_acts", id: row.operator_id } as const;
    guarded(own, place, () => {
      check(row, place);
    });
  }
  return {
    keys: new Set(rows.flatMap(({ key_sha256: key }) => key ?? [])),
    passkeys: new Set(rows.flatMap(({ passkey_sha256: passkey }) => passkey ?? [])),
    chained: rows.map((row) => ({
      subject: `act:${String(row.seq)}`,
      fields: fieldsOf(row),
      place: { seq: row.seq, table: "operator_acts", id: row.operator_id },
    })),
  };
}

function fieldsOf(row: AuditedActRow): readonly (string | number)[] {
  const words = [row.operator_id, row.name ?? "", row.roles ?? "", row.key_sha256 ?? "", row.actor];
  const fields = [row.seq, row.kind, ...words, row.recorded_at];
  return row.passkey_sha256 === null ? fields : [...fields, row.passkey_sha256];
}

type Known = ReadonlyMap<string, AuditedOperator>;

function problemOf(
  row: AuditedActRow,
  operators: Known,
): { readonly expected: string; readonly found: string } | undefined {
  const subject = operators.get(row.operator_id);
  const isNew = row.kind === "operator.created";
  if (isNew !== (subject === undefined)) {
    return {
      expected: `${row.kind} of ${isNew ? "a new" : "a known"} operator`,
      found: isNew ? "a known one" : "none",
    };
  }
  if (subject?.revokedAt !== undefined) return { expected: "no act after the operator was revoked", found: row.kind };
  if (isOfMachine(row.actor)) return undefined;
  // Everybody may remove an own passkey.
  if (row.kind === "operator.passkey_removed" && row.actor === row.operator_id) return undefined;
  const [proposer = "", approver, ...others] = row.actor.split(",");
  const hasRight =
    may(operators.get(proposer), ["admin"]) &&
    others.length === 0 &&
    (approver === undefined || (approver !== proposer && may(operators.get(approver), ["admin", "approver"])));
  return hasRight ? undefined : { expected: "an actor who had the right", found: row.actor };
}

function may(operator: AuditedOperator | undefined, roles: readonly string[]): boolean {
  return (
    operator !== undefined && operator.revokedAt === undefined && operator.roles.some((role) => roles.includes(role))
  );
}

function apply(row: AuditedActRow, operators: Map<string, AuditedOperator>): void {
  const { kind, operator_id: id, roles, recorded_at: at } = row;
  const before = operators.get(id) ?? { roles: [], revokedAt: undefined };
  operators.set(id, {
    roles: roles === null ? before.roles : roles.split(" "),
    revokedAt: before.revokedAt ?? (kind === "operator.revoked" ? at : undefined),
  });
}
