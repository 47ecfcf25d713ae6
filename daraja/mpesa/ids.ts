import { createHash } from "node:crypto";

import { nairobi } from "./nairobi-time.js";

/** Receipts of one day end in seven characters of base 36. */
const RECEIPTS_A_DAY = 36 ** 7;
/** Has no factor in common with RECEIPTS_A_DAY, so that no receipt comes twice. */
const RECEIPT_STEP = 3_141_592_651;

/** Ids in the formats of the real ones. The same seed gives the same ids. */
export class Ids {
  readonly #seed: string;
  #count = 0;
  #receipts = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Such as "1c5b-4ba8-815c-ac45c57a3db01495926": of an error. */
  request(): string {
    const hex = this.#hex();
    const digits = String(this.#count % 10_000_000).padStart(7, "0");
    return `${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 24)}${digits}`;
  }

  /** Such as "2654-4b64-97ff-b827b542881d3130". */
  merchantRequest(): string {
    const hex = this.#hex();
    return `${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 28)}`;
  }

  /** Such as "ws_CO_07012024140013500708374149": time, a count and the phone. */
  checkoutRequest(nowMillis: number, msisdn: string): string {
    const { year, month, day, hour, minute, second } = nairobi(nowMillis);
    this.#count += 1;
    const count = String(this.#count % 1_000).padStart(3, "0");
    return `ws_CO_${day}${month}${year}${hour}${minute}${second}${count}${msisdn.slice(3)}`;
  }

  /** Such as "AG_20240706_20106e9209f64bebd05b". */
  conversation(nowMillis: number): string {
    const { year, month, day } = nairobi(nowMillis);
    return `AG_${year}${month}${day}_2010${this.#hex().slice(0, 16)}`;
  }

  /** Such as "29112-34801843-1": where the request names no id of its own. */
  originatorConversation(): string {
    const number = parseInt(this.#hex().slice(0, 12), 16);
    return `${String(10_000 + (number % 90_000))}-${String(10_000_000 + (number % 90_000_000))}-1`;
  }

  /** Such as "SG632NMUAB": a letter each for year, month and day, and seven more. */
  receipt(nowMillis: number): string {
    const { year, month, day } = nairobi(nowMillis);
    const letter = (number: number): string => String.fromCharCode(65 + (number % 26));
    const offset = parseInt(createHash("sha256").update(this.#seed).digest("hex").slice(0, 8), 16);
    const number = (offset + this.#receipts * RECEIPT_STEP) % RECEIPTS_A_DAY;
    this.#receipts += 1;
    const rest = number.toString(36).padStart(7, "0");
    // 2006 was the year A, and December is the month L.
    return `${letter(Number(year) - 2006)}${letter(Number(month) - 1)}${Number(day).toString(36)}${rest}`.toUpperCase();
  }

  /** 28 letters and digits. */
  token(): string {
    return BigInt(`0x${this.#hex()}`).toString(36).padStart(28, "0").slice(-28);
  }

  #hex(): string {
    this.#count += 1;
    return createHash("sha256")
      .update(`${this.#seed} ${String(this.#count)}`)
      .digest("hex");
  }
}
