import { type Freeze, FREEZE_REASONS, type FreezeReason } from "../../domain/freeze.js";
import type { Parsed } from "../../domain/values/parsed.js";
import { type Freeze as FreezeMessage, FreezeReason as FreezeReasonMessage } from "../../gen/kesc/v1/freeze.js";
import { enumOf, parseRequiredWord } from "./enums.js";
import { shown } from "./fields.js";
import { toTimestamp } from "./timestamp.js";

const REASONS = enumOf(FreezeReasonMessage, "FREEZE_REASON", FREEZE_REASONS);

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
  return parseRequiredWord(unchecked, FREEZE_REASONS, REASONS);
}
