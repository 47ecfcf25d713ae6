import type { JournalKind } from "./journal.js";
import {
  type HeldReason,
  isCredentialUntried,
  type RailAccountRecord,
  type RefusedCredential,
  WARNING_CODES,
  type WarningCode,
  type WarningFigures,
} from "./rail-account.js";
import type { Rail } from "./transaction.js";
import type { UnixMillis } from "./values/time.js";

/** What was seen of an account. Absent: nothing was seen of it now. */
export interface RailFinding {
  /** What is available for payouts. It may be negative. */
  readonly availableCents?: number | undefined;
  /** The code with which the rail refuses every payout. */
  readonly lockedCode?: string | undefined;
  /** The payouts of unknown outcome for which others wait. Zero: none waits for them. */
  readonly unknownPayouts?: number | undefined;
  /** The rail has refused a credential, with this code. */
  readonly refusedCredential?: { readonly credential: RefusedCredential; readonly code: string } | undefined;
  /** The rail has refused a request, with this code. */
  readonly refusedRequest?: { readonly request: string; readonly code: string } | undefined;
  /** Whether the rail has refused no kind of request for an hour. */
  readonly isQuiet?: boolean | undefined;
  /** Whether the rail has told a balance: it has taken all credentials. */
  readonly isProven?: boolean | undefined;
  /** Whether a person has set the account: what was refused before counts no more. */
  readonly isSet?: boolean | undefined;
  /** Whether a person lets payouts begin. */
  readonly isOpened?: boolean | undefined;
}

/** A journal row about a warning. */
export interface WarningRow {
  readonly kind: Extract<JournalKind, "rail.warned" | "rail.cleared">;
  readonly detail: string;
}

/** What a row says of a warning, for those who read the book. */
export interface WarningSnapshot {
  readonly rail: Rail;
  readonly code: WarningCode;
  readonly figures: WarningFigures;
}

/** A new warning is raised at each of these numbers of days before the credentials end. */
const EXPIRY_DAYS = [14, 7, 3, 1] as const;
const DAY_MILLIS = 86_400_000;
/** A warning of a low float ends at this percentage of the minimum, so that it does not flicker. */
const CLEARED_PERCENT = 120;

/** What becomes of a warning, with the figures of its row. Undefined: it stays as it is. */
type WarningChange = { readonly raise: WarningFigures } | { readonly clear: WarningFigures } | undefined;

/**
 * Returns the account with its warnings after a finding, and a row for each warning that was
 * raised or cleared. A warning that is raised already has no second row.
 */
export function withWarnings(
  account: RailAccountRecord,
  finding: RailFinding,
  now: UnixMillis,
): { readonly account: RailAccountRecord; readonly rows: readonly WarningRow[] } {
  const changes: readonly (readonly [WarningCode, WarningChange])[] = [
    ["FLOAT_LOW", floatChange(account, finding)],
    ["CREDENTIALS_EXPIRE", expiryChange(account, now)],
    ["INITIATOR_LOCKED", lockChange(account, finding)],
    ["CREDENTIALS_REFUSED", credentialChange(account, finding)],
    ["REQUESTS_REFUSED", requestChange(account, finding)],
    ["PAYOUTS_HELD", heldChange(account, finding)],
  ];
  const raised = new Map(Object.entries(account.warnings) as [WarningCode, WarningFigures][]);
  const rows: WarningRow[] = [];
  for (const [code, change] of changes) {
    if (change === undefined) continue;
    const about = { id: account.id, rail: account.rail, code };
    if ("raise" in change) {
      raised.set(code, change.raise);
      rows.push({ kind: "rail.warned", detail: JSON.stringify({ ...about, ...change.raise }) });
    } else if (raised.delete(code)) {
      rows.push({ kind: "rail.cleared", detail: JSON.stringify({ ...about, ...change.clear }) });
    }
  }
  if (rows.length === 0) return { account, rows };
  const inOrder = WARNING_CODES.flatMap((code) => {
    const figures = raised.get(code);
    return figures === undefined ? [] : [[code, figures] as const];
  });
  return { account: { ...account, warnings: Object.fromEntries(inOrder) }, rows };
}

function floatChange({ floatMinCents, warnings }: RailAccountRecord, { availableCents }: RailFinding): WarningChange {
  if (floatMinCents === 0) return { clear: {} };
  if (availableCents === undefined) return undefined;
  const figures = { available_cents: availableCents, float_min_cents: floatMinCents };
  if (availableCents < floatMinCents) return warnings.FLOAT_LOW === undefined ? { raise: figures } : undefined;
  return availableCents * 100 >= floatMinCents * CLEARED_PERCENT ? { clear: figures } : undefined;
}

function expiryChange({ credentialsExpireAt, warnings }: RailAccountRecord, now: UnixMillis): WarningChange {
  if (credentialsExpireAt === undefined) return { clear: {} };
  const days = EXPIRY_DAYS.findLast((each) => credentialsExpireAt - now <= each * DAY_MILLIS);
  if (days === undefined) return { clear: { expire_at: credentialsExpireAt } };
  const earlier = warnings.CREDENTIALS_EXPIRE;
  const isSame = earlier?.["expire_at"] === credentialsExpireAt && earlier["days"] === days;
  return isSame ? undefined : { raise: { expire_at: credentialsExpireAt, days } };
}

function lockChange({ payouts, warnings }: RailAccountRecord, { lockedCode }: RailFinding): WarningChange {
  // Only a person opens payouts, after the rail has let the initiator in again.
  if (payouts !== "closed") return { clear: {} };
  if (lockedCode === undefined || warnings.INITIATOR_LOCKED !== undefined) return undefined;
  return { raise: { rail_code: lockedCode } };
}

/**
 * A credential that was set after a refusal is tried by one question first, so the warning stands
 * until the rail has told a balance. A person who lets payouts begin decides it, too.
 */
function credentialChange(account: RailAccountRecord, finding: RailFinding): WarningChange {
  const { refusedCredential, isProven, isSet, isOpened } = finding;
  const earlier = account.warnings.CREDENTIALS_REFUSED;
  if (isProven === true || isOpened === true) return { clear: {} };
  const isUntried = isCredentialUntried(account);
  if (isSet === true) return earlier === undefined || isUntried ? undefined : { raise: { ...earlier, is_set: 1 } };
  if (refusedCredential === undefined) return undefined;
  const { credential, code } = refusedCredential;
  // Without the app's credential nothing works, so it takes the place of the other.
  const isWorse = earlier?.["credential"] === "initiator" && credential === "app";
  return earlier === undefined || isUntried || isWorse ? { raise: { credential, rail_code: code } } : undefined;
}

/** One warning for all requests: it names the first that was refused. */
function requestChange({ warnings }: RailAccountRecord, finding: RailFinding): WarningChange {
  const { refusedRequest, isQuiet, isSet } = finding;
  if (isSet === true || isQuiet === true) return { clear: {} };
  if (refusedRequest === undefined || warnings.REQUESTS_REFUSED !== undefined) return undefined;
  const { request, code } = refusedRequest;
  return { raise: { request, rail_code: code } };
}

function heldChange({ payouts, warnings }: RailAccountRecord, { unknownPayouts }: RailFinding): WarningChange {
  const earlier = warnings.PAYOUTS_HELD?.["reason"] as HeldReason | undefined;
  const raised = (reason: HeldReason, figures: WarningFigures = {}): WarningChange =>
    earlier === reason ? undefined : { raise: { reason, ...figures } };
  if (payouts === "closed") return raised("PAYOUTS_CLOSED");
  if (payouts === "open" || unknownPayouts === 0) return { clear: {} };
  if (unknownPayouts !== undefined) return raised("OUTCOMES_UNKNOWN", { unknown_payouts: unknownPayouts });
  return earlier === "PAYOUTS_CLOSED" ? { clear: {} } : undefined;
}

/** Reads the detail of a row about a warning. */
export function readWarning(detail: string): WarningSnapshot {
  const fields = JSON.parse(detail) as WarningFigures & { readonly rail: Rail; readonly code: WarningCode };
  const { rail, code } = fields;
  const figures = Object.entries(fields).filter(([name]) => !["id", "rail", "code"].includes(name));
  return { rail, code, figures: Object.fromEntries(figures) };
}
