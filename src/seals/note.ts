import { createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";

/** The types of keys (C2SP signed-note): of a log, and of a witness (C2SP tlog-cosignature). */
const ED25519 = 0x01;
const COSIGNATURE = 0x04;
const KEY_ID_BYTES = 4;
const TIME_BYTES = 8;
const COSIGNATURE_BYTES = KEY_ID_BYTES + TIME_BYTES + 64;
/** The prefix of the 32 bytes of an Ed25519 key in the encoding of SubjectPublicKeyInfo. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const SIGNATURE_LINE = /^— (\S+) ([A-Za-z0-9+/]+=*)$/;
const VERIFIER_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;
const SIZE = /^(0|[1-9][0-9]{0,15})$/;

/** A tree of a size, by its root. */
export interface Checkpoint {
  /** Names the log: "<origin>/<organization's id>". */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** A checkpoint, and who signed it. */
export interface ParsedNote extends Checkpoint {
  /** The text that the signatures cover. */
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/**
 * A public key of the place from which a book came. It counts in the log of that book alone, and up
 * to the last row that came along. The other place has its private key.
 */
export interface ArrivedKey {
  readonly bytes: Uint8Array;
  readonly organizationId: string;
  readonly size: number;
}

/** The public keys of a seal key file, by which notes are checked. */
export interface PublicSealKeys {
  /** The keys of this place, newest first: 32 bytes each. */
  readonly publicKeys: readonly Uint8Array[];
  readonly arrivedKeys?: readonly ArrivedKey[];
}

/** Returns the keys that may have signed the first `size` rows of a book. */
export function keysOfLog(
  { publicKeys, arrivedKeys = [] }: PublicSealKeys,
  log: { readonly organizationId: string; readonly size: number },
): readonly Uint8Array[] {
  const arrived = arrivedKeys.filter(
    ({ organizationId, size }) => organizationId === log.organizationId && log.size <= size,
  );
  return [...publicKeys, ...arrived.map(({ bytes }) => bytes)];
}

/** Signs a checkpoint: a C2SP signed note. The name of the key is the origin. */
export function signedNote(checkpoint: Checkpoint, privateKey: KeyObject): string {
  return signedText(checkpointText(checkpoint), { name: checkpoint.origin, privateKey });
}

/** Signs lines of text, each with its line feed: a C2SP signed note. */
export function signedText(text: string, { name, privateKey }: { name: string; privateKey: KeyObject }): string {
  const publicKey = publicBytesOf(createPublicKey(privateKey));
  const signature = Buffer.concat([keyIdOf(name, publicKey), sign(null, Buffer.from(text), privateKey)]);
  return `${text}\n— ${name} ${signature.toString("base64")}\n`;
}

/** Returns the three lines of a checkpoint. */
function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${String(size)}\n${Buffer.from(root).toString("base64")}\n`;
}

/** Parses a signed note with any text. Returns undefined if it is none. */
export function parseNote(note: string): Pick<ParsedNote, "text" | "signatures"> | undefined {
  const end = note.indexOf("\n\n");
  if (end === -1 || !note.endsWith("\n")) return undefined;
  const signatures = note
    .slice(end + 2, -1)
    .split("\n")
    .flatMap((line) => {
      const [, name, bytes] = SIGNATURE_LINE.exec(line) ?? [];
      return name === undefined || bytes === undefined ? [] : [{ name, bytes: Buffer.from(bytes, "base64") }];
    });
  return { text: note.slice(0, end + 1), signatures };
}

/** Parses a signed note with a checkpoint. Returns undefined if it is none. */
export function parseSignedNote(note: string): ParsedNote | undefined {
  const parsed = parseNote(note);
  if (parsed === undefined) return undefined;
  const [origin = "", size = "", root = "", ...others] = parsed.text.split("\n").slice(0, -1);
  const bytes = Buffer.from(root, "base64");
  if (origin === "" || !SIZE.test(size) || bytes.toString("base64") !== root || bytes.length !== 32) return undefined;
  if (others.length > 0) return undefined;
  return { ...parsed, origin, size: Number(size), root: bytes };
}

/** Whether one of the keys, each of 32 bytes, has signed the note in the name of its origin. */
export function isSignedBy(
  { origin, text, signatures }: Pick<ParsedNote, "origin" | "text" | "signatures">,
  publicKeys: readonly Uint8Array[],
): boolean {
  return signatures.some(({ name, bytes }) => {
    if (name !== origin) return false;
    const key = publicKeys.find((each) => keyIdOf(name, each).equals(bytes.subarray(0, KEY_ID_BYTES)));
    return key !== undefined && verify(null, Buffer.from(text), publicKeyOf(key), bytes.subarray(KEY_ID_BYTES));
  });
}

/** Returns a key as other programs for signed notes take it: "<name>+<key id>+<base64>". */
export function verifierKeyOf(name: string, publicKey: Uint8Array): string {
  const typed = Buffer.concat([Buffer.of(ED25519), publicKey]);
  return `${name}+${keyIdOf(name, publicKey).toString("hex")}+${typed.toString("base64")}`;
}

/** The signature of a note: 4 bytes that name the key, and 64 of Ed25519, in base64. */
export const SIGNATURE_CHARACTERS = 92;
/** Length of its part that depends on the name of the key alone: 30 bits. */
export const SIGNER_CHARACTERS = 5;

/** Returns the beginning of each signature that a key makes in this name. */
export function signerOf(name: string, publicKey: Uint8Array): string {
  return keyIdOf(name, publicKey).toString("base64").slice(0, SIGNER_CHARACTERS);
}

/** Returns the 32 bytes of a public key that verifierKeyOf() wrote, or undefined. */
export function parseVerifierKey(text: string): Uint8Array | undefined {
  const [, , , key = ""] = VERIFIER_KEY.exec(text) ?? [];
  const typed = Buffer.from(key, "base64");
  return typed.length === 33 && typed[0] === ED25519 ? typed.subarray(1) : undefined;
}

/** A key of somebody else, who signs checkpoints of which each continues the one before. */
export interface Witness {
  readonly name: string;
  readonly publicKey: Uint8Array;
}

/** Parses the public key of a witness: "<name>+<key id>+<base64>". */
export function parseWitness(text: string): Witness | undefined {
  const [, name = "", id = "", key = ""] = VERIFIER_KEY.exec(text) ?? [];
  const typed = Buffer.from(key, "base64");
  const publicKey = typed.subarray(1);
  const isKey = typed.length === 33 && typed[0] === COSIGNATURE;
  return isKey && keyIdOf(name, publicKey, COSIGNATURE).toString("hex") === id ? { name, publicKey } : undefined;
}

/** Returns a line for each of the witnesses that has cosigned the note. */
export function cosignaturesIn({ text, signatures }: ParsedNote, witnesses: readonly Witness[]): readonly string[] {
  return witnesses.flatMap(({ name, publicKey }) => {
    const id = keyIdOf(name, publicKey, COSIGNATURE);
    const found = signatures.find((each) => {
      const { bytes } = each;
      if (each.name !== name || bytes.length !== COSIGNATURE_BYTES || !id.equals(bytes.subarray(0, KEY_ID_BYTES)))
        return false;
      const time = bytes.readBigUInt64BE(KEY_ID_BYTES);
      const signed = Buffer.from(`cosignature/v1\ntime ${String(time)}\n${text}`);
      return verify(null, signed, publicKeyOf(publicKey), bytes.subarray(KEY_ID_BYTES + TIME_BYTES));
    });
    return found === undefined ? [] : [`— ${name} ${found.bytes.toString("base64")}\n`];
  });
}

/** Returns the 32 bytes of an Ed25519 public key. */
export function publicBytesOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" }).subarray(SPKI_PREFIX.length);
}

function publicKeyOf(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: "der", type: "spki" });
}

function keyIdOf(name: string, publicKey: Uint8Array, type = ED25519): Buffer {
  const named = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(type), publicKey]);
  return hash("sha256", named, "buffer").subarray(0, KEY_ID_BYTES);
}
