import { hash } from "node:crypto";

export const ID = "01jd2r6p5vf8ksw3xhb1z7q4ye";
export const TIME = "2026-11-20T09:36:00.123Z";

/** A leaf as docs/seals.md describes it, with both hashes. */
export function leafOf(sequence: number): Readonly<Record<"text" | "texts" | "texts_salt" | "content_salt", string>> {
  const [texts_salt, content_salt] = ["9f86d081884c7d659a2feaa0c55ad015", "60303ae22b998861bce3b28f33eec1be"];
  const [transaction, account, kind, time] = [
    `txn_${ID}`,
    `acc_${ID}`,
    "transaction.completed",
    String(Date.parse(TIME)),
  ];
  const texts = JSON.stringify(["kesc-texts-1", "", `key_${ID}`, ""]);
  const created = ["MINT", "100000", "deposit-1", "November", '[["order_id","17"]]', "direct", "", ""];
  const content = JSON.stringify(["kesc-content-1", kind, transaction, account, time, ...created]);
  const ids = [`org_${ID}`, String(sequence), String(sequence - 1), account, transaction, ""];
  const money = ["reserve", "available", "100000", "100000", "0"];
  const hashes = [hash("sha256", texts_salt + texts), hash("sha256", content_salt + content)];
  const text = JSON.stringify(["kesc-row-1", ...ids, kind, ...money, "", time, ...hashes]);
  return { text, texts, texts_salt, content_salt };
}
