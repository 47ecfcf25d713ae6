import { createHash } from "node:crypto";

import type { RowOf } from "../../model/column.js";
import type { PASSKEYS } from "../../model/database.js";
import type { Audit } from "../audit.js";
import { guardedReads } from "../guarded.js";
import { auditOperatorActs } from "./acts.js";
import { OperatorChainAudit } from "./chain.js";
import { auditProposals } from "./proposals.js";

/** Audits the operators, what a second person has decided, the chain over both, and passkeys. */
export async function auditOperators(audit: Audit): Promise<void> {
  // The chain is read first: a row that a server adds meanwhile is not missed in it.
  const chain = await OperatorChainAudit.begin(audit);
  const { keys, passkeys, chained } = await auditOperatorActs(audit);
  const findings = audit.findings.of(undefined);
  const place = { seq: undefined, table: "operator_chain", id: undefined } as const;
  await guardedReads(audit, { findings, place }, async () => {
    await chain.end([...chained, ...(await auditProposals(audit, new Set([...keys, ...passkeys])))]);
  });
  await auditPasskeys(audit, passkeys);
  await auditEnded(audit);
}

/** Audits that no session, and nothing that people sign in with, is there after its end. */
async function auditEnded({ engine, findings, rows }: Audit): Promise<void> {
  const own = findings.of(undefined);
  for (const [table, key, subject] of [
    ["sessions", "id", "session:"],
    ["sign_in_tokens", "token_sha256", "used:"],
  ] as const) {
    const ended = await rows<{ readonly id: string }>(
      `SELECT r.${key} AS id FROM ${engine.table(table)} r
       JOIN ${engine.table("operator_chain")} c ON c.subject = '${subject}' || r.${key}`,
    );
    for (const { id } of ended)
      own.add({ seq: undefined, table, id }, { expected: "no row after its end", found: "one" });
  }
}

type AuditedPasskeyRow = Omit<RowOf<typeof PASSKEYS, string>, "created_at">;

const FORMAT = "kesc-passkey-1";

/**
 * Audits the passkeys: each row must have the SHA-256 of its credential. A row that no act names is
 * none of an operator: its proposal waits, or has lapsed. `named` has the SHA-256 of every passkey
 * that an act names. A row is missing if somebody took it out: then that person cannot sign in.
 */
async function auditPasskeys(audit: Audit, named: ReadonlySet<string>): Promise<void> {
  const { engine, findings, rows } = audit;
  const own = findings.of(undefined);
  const found = await rows<AuditedPasskeyRow>(
    `SELECT sha256, credential_id, ${engine.hex("public_key")} AS public_key FROM ${engine.table("passkeys")}`,
  );
  for (const row of found) {
    const text = JSON.stringify([FORMAT, row.credential_id, row.public_key]);
    if (createHash("sha256").update(text).digest("hex") === row.sha256) continue;
    const place = { seq: undefined, table: "passkeys", id: row.sha256 } as const;
    own.add(place, { expected: "the passkey with this SHA-256", found: "another one" });
  }
  const known = new Set(found.map(({ sha256 }) => sha256));
  for (const sha256 of named) {
    if (known.has(sha256)) continue;
    own.add({ seq: undefined, table: "passkeys", id: sha256 }, { expected: "the passkey of an act", found: "none" });
  }
}
