import { type Cents, parseAmount } from "../../domain/values/cents.js";
import { type Parsed, unparsed } from "../../domain/values/parsed.js";
import { ifGiven } from "./fields.js";

/** Parses the upper end of a range of amounts. It must not be less than the lower end. */
export function parseMaxAmount(uncheckedMin: string, unchecked: string): Parsed<Cents | undefined> {
  const [min, max] = [ifGiven(uncheckedMin, parseAmount), ifGiven(unchecked, parseAmount)];
  const isEmpty = min.ok && max.ok && min.value !== undefined && max.value !== undefined && max.value < min.value;
  return isEmpty ? unparsed("must not be less than min_amount", "OUT_OF_RANGE") : max;
}
