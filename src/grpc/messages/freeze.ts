import { type Freeze, FREEZE_REASONS, type FreezeReason } from "../../domain/freeze.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { type Freeze as FreezeMessage, FreezeReason as FreezeReasonMessage } from "../../gen/kesc/v1/freeze.js";
import { shown } from "./fields.js";
import { toTimestamp } from "./timestamp.js";

const REASONS = {
  COURT_ORDER: FreezeReasonMessage.FREEZE_REASON_COURT_ORDER,
  SANCTIONS: FreezeReasonMessage.FREEZE_REASON_SANCTIONS,
  FRAUD: FreezeReasonMessage.FREEZE_REASON_FRAUD,
  CUSTOMER_REQUEST: FreezeReasonMessage.FREEZE_REASON_CUSTOMER_REQUEST,
  OTHER: FreezeReasonMessage.FREEZE_REASON_OTHER,
} as const satisfies Record<FreezeReason, FreezeReasonMessage>;

export function toFreezeMessage({ lifted, ...freeze }: Freeze): FreezeMessage {
  return {
    id: freeze.id,
    reason: REASONS[freeze.reason],
    note: shown(freeze.note),
    created_by: freeze.createdBy,
    created_at: toTimestamp(freeze.createdAt),
    lifted_by: lifted?.by,
    lifted_at: lifted === undefined ? undefined : toTimestamp(lifted.at),
    lift_note: lifted && shown(lifted.note),
  };
}

/** Parses the reason of a request, which must have one. */
export function parseFreezeReason(unchecked: FreezeReasonMessage): Parsed<FreezeReason> {
  if (unchecked === FreezeReasonMessage.FREEZE_REASON_UNSPECIFIED) return unparsed("is required", "REQUIRED");
  const reason = FREEZE_REASONS.find((known) => REASONS[known] === unchecked);
  return reason === undefined
    ? unparsed(`must be one of ${FREEZE_REASONS.join(", ")}`, "UNKNOWN_VALUE")
    : parsed(reason);
}
