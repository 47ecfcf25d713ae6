import { createPublicKey, generateKeyPairSync } from "node:crypto";

import { expect } from "chai";

import {
  cosignaturesIn,
  isSignedBy,
  type ParsedNote,
  parseSignedNote,
  parseVerifierKey,
  parseWitness,
  publicBytesOf,
  signedNote,
  verifierKeyOf,
  type Witness,
} from "../../src/seals/note.js";
import { newWitness } from "../support/seals/witness.js";

describe("the note of a checkpoint", () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const publicKey = publicBytesOf(createPublicKey(privateKey));
  const checkpoint = { origin: "kesc.example.com/org_1", size: 1_234, root: Buffer.alloc(32, 7) };
  const note = signedNote(checkpoint, privateKey);

  it("has the origin, the size and the root, and then the signature", () => {
    expect(note.split("\n").slice(0, 4)).to.deep.equal([
      "kesc.example.com/org_1",
      "1234",
      Buffer.alloc(32, 7).toString("base64"),
      "",
    ]);
    expect(note).to.match(/\n— kesc\.example\.com\/org_1 [A-Za-z0-9+/]{91}=\n$/);
  });

  it("says the same after it is parsed", () => {
    expect(parseSignedNote(note)).to.deep.include(checkpoint);
  });

  it("is signed by the key, and by no other", () => {
    const other = publicBytesOf(generateKeyPairSync("ed25519").publicKey);
    const parsed = parseSignedNote(note);
    if (parsed === undefined) throw new Error("it is no note");
    expect(isSignedBy(parsed, [other, publicKey])).to.equal(true);
    expect(isSignedBy(parsed, [other])).to.equal(false);
  });

  for (const [what, changed] of [
    ["the origin", note.replaceAll("org_1", "org_2")],
    ["the size", note.replace("1234", "1235")],
    ["the root", note.replace("Bwc", "Bwd")],
  ] as const) {
    it(`is not signed if ${what} is changed`, () => {
      const parsed = parseSignedNote(changed);
      expect(parsed !== undefined && isSignedBy(parsed, [publicKey])).to.equal(false);
    });
  }

  for (const [what, text] of [
    ["without a signature", note.split("\n\n")[0] ?? ""],
    ["with a size that begins with 0", note.replace("1234", "01234")],
    ["with a root of another length", note.replace("Bwc", "")],
    ["with another line", note.replace("\n\n", "\nmore\n\n")],
  ] as const) {
    it(`is no note ${what}`, () => {
      expect(parseSignedNote(text)).to.equal(undefined);
    });
  }

  it("names its key as other programs for signed notes take it", () => {
    const vkey = verifierKeyOf("example.com/log", publicKey);
    expect(vkey).to.match(/^example\.com\/log\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/);
    expect(parseVerifierKey(vkey)).to.deep.equal(publicKey);
    expect(parseVerifierKey(`${vkey}0`)).to.equal(undefined);
    // The key of the go.dev checksum database, whose id other programs compute the same way.
    const sumdb = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
    expect(verifierKeyOf("sum.golang.org", parseVerifierKey(sumdb) ?? Buffer.of())).to.equal(sumdb);
  });

  it("is cosigned by a witness whose name, key and time are those of the line, and by no other", () => {
    const witness = newWitness("witness.example.com/w1");
    const known = witnessOf(witness);
    const cosigned = parsedNote(note + witness.cosign(note, 1_679_315_147n));
    expect(cosignaturesIn(cosigned, [known])).to.have.length(1);
    expect(isSignedBy(cosigned, [publicKey])).to.equal(true);
    expect(cosignaturesIn(cosigned, [{ ...known, name: "another" }])).to.deep.equal([]);
    expect(cosignaturesIn(cosigned, [witnessOf(newWitness(witness.name))])).to.deep.equal([]);
    // A cosignature says when. So the time in the line is signed.
    const [line = ""] = cosignaturesIn(cosigned, [known]);
    const bytes = Buffer.from(line.split(" ")[2] ?? "", "base64");
    bytes.writeUInt8(Number(bytes[11]) ^ 1, 11);
    const later = note + `— ${witness.name} ${bytes.toString("base64")}\n`;
    expect(cosignaturesIn(parsedNote(later), [known])).to.deep.equal([]);
    const grown = signedNote({ ...checkpoint, size: 1_235 }, privateKey);
    expect(cosignaturesIn(parsedNote(grown + line), [known])).to.deep.equal([]);
  });

  it("takes the key of a witness as a witness, and no other", () => {
    const { key } = newWitness("witness.example.com/w1");
    expect(parseWitness(key)?.name).to.equal("witness.example.com/w1");
    expect(parseWitness(key.replace("/w1", "/w2"))).to.equal(undefined);
    expect(parseWitness(verifierKeyOf("witness.example.com/w1", publicKey))).to.equal(undefined);
    expect(parseVerifierKey(key)).to.equal(undefined);
  });
});

function parsedNote(text: string): ParsedNote {
  const parsed = parseSignedNote(text);
  if (parsed === undefined) throw new Error("it is no note");
  return parsed;
}

function witnessOf({ key }: { readonly key: string }): Witness {
  const witness = parseWitness(key);
  if (witness === undefined) throw new Error("it is no key of a witness");
  return witness;
}
