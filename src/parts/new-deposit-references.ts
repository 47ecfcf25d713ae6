import { randomInt } from "node:crypto";

import { type DepositReference, depositReferenceOf } from "../domain/values/deposit-reference.js";

/** A book is never so full that as many references are all taken. */
const CANDIDATES = 3;

/** Returns random references: a new account gets the first that is free. */
export function newDepositReferences(): readonly DepositReference[] {
  return Array.from({ length: CANDIDATES }, () => depositReferenceOf(randomInt(2_000_000, 10_000_000)));
}
