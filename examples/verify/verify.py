"""Checks that a row is in a book, without trusting the service: leaf -> root -> signature.

python3 verify.py KEY proof.json            KEY is the verifier key that you trust, proof.json the answer of
                                            GET /seals/inclusion-proof?transaction_id=...
python3 verify.py KEY proof.json old.json   and that an earlier answer of GET /seals/checkpoint still holds;
                                            consistency.json beside it: GET /seals/consistency-proof?old_size=...&size=...
                                            from the size in old.json to the size in proof.json
Needs the package cryptography (Debian: python3-cryptography).
"""
import json, os, sys
from base64 import b64decode
from hashlib import sha256


def node(left, right):
    return sha256(b"\x01" + left + right).digest()


def must(is_so, words):
    if not is_so:
        sys.exit("NO: " + words)


def unless(is_so, words):
    if is_so:
        print("NOT CHECKED: " + words, file=sys.stderr)
        sys.exit(2)


def is_signed(public_key, signature, text):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, text)
        return True
    except InvalidSignature:
        return False


def signed_root(checkpoint, key):
    name, _, typed = key.split("+", 2)
    text, signatures = checkpoint["signed_note"].split("\n\n", 1)
    origin, size, root = text.split("\n")
    lines = [line.split(" ")[2] for line in signatures.split("\n") if line.startswith("\u2014 " + name + " ")]
    signed = any(is_signed(b64decode(typed)[1:], b64decode(line)[4:], (text + "\n").encode()) for line in lines)
    must(signed and origin == name, "the key has not signed the note")
    return int(size), b64decode(root)


def root_from_leaf(leaf, index, size, proof):
    proof, last = list(proof), size - 1
    while last > 0:
        if index % 2 == 1:
            leaf = node(proof.pop(0), leaf)
        elif index < last:
            leaf = node(leaf, proof.pop(0))
        index, last = index // 2, last // 2
    must(not proof, "the proof is too long")
    return leaf


def both_roots(old_size, old_root, size, proof):
    """The roots of both trees that a consistency proof leads to (RFC 9162, 2.1.4.2)."""
    proof, index, last = list(proof), old_size - 1, size - 1
    while index % 2 == 1:
        index, last = index // 2, last // 2
    before = after = old_root if index == 0 else proof.pop(0)
    while last > 0:
        if index % 2 == 1:
            left = proof.pop(0)
            before, after = node(left, before), node(left, after)
        elif index < last:
            after = node(after, proof.pop(0))
        index, last = index // 2, last // 2
    must(not proof, "the proof is too long")
    return before, after


def main(key, file, old_file=None):
    answer = json.load(open(file))
    size, root = signed_root(answer["checkpoint"], key)
    text = answer["leaf"]["text"]
    leaf = sha256(b"\x00" + text.encode()).digest()
    found = root_from_leaf(leaf, int(answer["leaf_index"]), size, [b64decode(each) for each in answer["hashes"]])
    must(found == root, "the row is not in the book")
    _, organization, seq, _, account, transaction, _, kind, _, credit, cents, balance, *_ = json.loads(text)
    is_there = key.split("+")[0].endswith("/" + organization) and int(seq) == int(answer["leaf_index"]) + 1
    must(is_there, "the row is of another place")
    money = lambda amount: f"{int(amount or 0) / 100:,.2f}"
    print(f"YES: row {seq} of {size} says {kind}: {money(cents)} to {credit} of {account} ({transaction}), then {money(balance)}")
    if old_file is None:
        return
    old_size, old_root = signed_root(json.load(open(old_file)), key)
    unless(old_size > size, "old.json is newer than proof.json: fetch proof.json again")
    consistency = json.load(open(os.path.join(os.path.dirname(old_file), "consistency.json")))
    is_other = old_size < size and int(consistency["checkpoint"]["size"]) != size
    unless(is_other, f"fetch consistency.json again, with old_size={old_size}&size={size}")
    proof = consistency["hashes"]
    same = (old_root, old_root)
    before, after = same if old_size == size else both_roots(old_size, old_root, size, [b64decode(each) for each in proof])
    must(before == old_root and after == root, "rows of the earlier checkpoint were changed")
    print(f"YES: the first {old_size} rows are those of the earlier checkpoint")


if __name__ == "__main__":
    main(*sys.argv[1:])
