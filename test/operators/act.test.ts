import { expect } from "chai";

import type { OperatorId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { type Act, type ActOf, changesOfAct, isConcerned, needsSecondPerson } from "../../src/operators/act.js";
import { type Operator, type OperatorName, passkeyIdOf } from "../../src/operators/operator.js";

const operatorId = "opr_1" as OperatorId;
const [ONE, TWO] = ["1".repeat(64), "2".repeat(64)];
const createdAt = toUnixMillis(1);
const hana: Operator = {
  id: operatorId,
  name: "Hana" as OperatorName,
  roles: ["support", "finance"],
  createdAt,
  revokedAt: undefined,
  history: [],
  keySha256: ONE,
  passkeys: [{ id: passkeyIdOf(ONE), sha256: ONE, createdAt }],
};
const passkey = { passkeySha256: TWO, passkeyId: passkeyIdOf(TWO) };
const PERSON = "person: Hana > Hana";
const ROLES = "roles: support, finance > support, finance";

/** Every kind of act. One that is missing does not compile. No changes: one person does it. */
const KINDS: { readonly [Kind in Act["kind"]]: readonly [ActOf<Kind>, Operator | undefined, ...string[]] } = {
  "operator.create": [
    { kind: "operator.create", name: hana.name, roles: ["viewer"], keySha256: TWO },
    undefined,
    "person:  > Hana",
    "roles:  > viewer",
    `fingerprint of the key:  > ${TWO}`,
  ],
  "operator.set_roles": [
    { kind: "operator.set_roles", operatorId, roles: ["admin"] },
    hana,
    PERSON,
    "roles: support, finance > admin",
  ],
  "operator.replace_key": [
    { kind: "operator.replace_key", operatorId, keySha256: TWO },
    hana,
    PERSON,
    ROLES,
    `fingerprint of the key: ${ONE} > ${TWO}`,
  ],
  "operator.add_passkey": [
    { kind: "operator.add_passkey", operatorId, ...passkey },
    hana,
    PERSON,
    ROLES,
    `passkeys: ${passkeyIdOf(ONE)} > ${passkeyIdOf(ONE)}, ${passkeyIdOf(TWO)}`,
  ],
  "operator.remove_passkey": [{ kind: "operator.remove_passkey", operatorId, passkeyId: passkeyIdOf(ONE) }, hana],
  "operator.revoke": [{ kind: "operator.revoke", operatorId }, hana],
};

describe("an act about an operator", () => {
  for (const [act, operator, ...lines] of Object.values(KINDS)) {
    const waits = lines.length > 0;
    it(`${waits ? "waits for a second person, and says in words what it changes" : "needs nobody else"}: ${act.kind}`, () => {
      const shown = changesOfAct(act, operator)?.map(({ what, before, after }) => `${what}: ${before} > ${after}`);
      expect(shown).to.deep.equal(waits ? lines : undefined);
      expect(needsSecondPerson(new Set(["operators"]), act)).to.equal(waits);
      expect(needsSecondPerson(new Set(), act)).to.equal(false);
      expect(isConcerned(hana, act)).to.equal(operator !== undefined);
    });
  }
});
