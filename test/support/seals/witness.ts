import { generateKeyPairSync, hash, sign } from "node:crypto";

import { publicBytesOf } from "../../../src/seals/note.js";

export interface TestWitness {
  readonly name: string;
  /** Its public key, as its file of keys has it. */
  readonly key: string;
  /** The line that the witness adds to a checkpoint, at a time in Unix seconds. */
  readonly cosign: (note: string, seconds?: bigint) => string;
}

/**
 * Makes a witness by the words of C2SP tlog-cosignature. It shares nothing with the code under
 * test but the encoding of the key.
 */
export function newWitness(name: string): TestWitness {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const typed = Buffer.concat([Buffer.of(4), publicBytesOf(publicKey)]);
  const id = hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), typed]), "buffer").subarray(0, 4);
  return {
    name,
    key: `${name}+${id.toString("hex")}+${typed.toString("base64")}`,
    cosign: (note, seconds = 1_700_000_000n) => {
      const body = note.slice(0, note.indexOf("\n\n") + 1);
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${String(seconds)}\n${body}`), privateKey);
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(seconds);
      return `— ${name} ${Buffer.concat([id, time, signature]).toString("base64")}\n`;
    },
  };
}
