import { expect } from "chai";

import { hasRoleSince, type Operator, type Role } from "../../src/domain/operator.js";
import { proposalAt } from "../../src/domain/proposal.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { rolesOfCommand } from "../../src/grpc/messages/contract.js";
import { lapsedIfRoleIsLost } from "../../src/grpc/services/proposals/proposal-messages.js";
import { by } from "../support/commands.js";
import { decide, effectOf, putOf } from "../support/decided.js";
import { NOW } from "../support/names.js";
import { PROPOSED } from "../support/operations/table.js";

describe("a proposal of an operator in a book", () => {
  const PROPOSER = "opr_01jd2r6p5vf8ksw3xhb1z7q4ye";
  for (const [name, { rows, command }] of Object.entries(PROPOSED)) {
    const row = putOf(effectOf(decide(rows, { ...command, ...by(PROPOSER) })), "proposals");
    if (row === undefined) throw new Error(`no proposal to ${name}`);
    const roles = rolesOfCommand(command.name);
    // The machine alone does it: no rpc has its name.
    if (roles.length === 0) continue;

    // The proposal is made at NOW.
    for (const [state, what, history] of [
      ["PENDING", "has kept the role", [[-10, roles]]],
      [
        "PENDING",
        "had lost the role before, and had it back",
        [
          [-10, roles],
          [-5, []],
          [-1, roles],
        ],
      ],
      [
        "PENDING",
        "got another role, too",
        [
          [-10, roles],
          [5, [...roles, "viewer"]],
        ],
      ],
      [
        "LAPSED",
        "has lost the role",
        [
          [-10, roles],
          [5, ["viewer"]],
        ],
      ],
      [
        "LAPSED",
        "has lost the role, and has it again",
        [
          [-10, roles],
          [5, ["viewer"]],
          [9, roles],
        ],
      ],
      [
        "LAPSED",
        "is revoked",
        [
          [-10, roles],
          [5, []],
        ],
      ],
    ] as const satisfies readonly (readonly [string, string, readonly (readonly [number, readonly Role[]])[]])[]) {
      it(`to ${name} is ${state} if that one ${what}`, () => {
        const proposer = {
          id: PROPOSER,
          history: history.map(([after, then]) => ({ at: toUnixMillis(NOW + after), roles: then })),
        } as unknown as Operator;
        expect(lapsedIfRoleIsLost(proposalAt(row, NOW), [proposer]).decided?.as ?? "PENDING").to.equal(state);
        // The equal command of another approver is the approval, or a proposal of its own.
        const since = hasRoleSince(proposer, roles);
        const proposers = new Map(since === undefined ? [] : [[row.person, since]]);
        const equal = decide({ ...rows, proposals: [row] }, { ...command, ...by("opr_b", { proposers }) });
        const put = putOf(effectOf(equal), "proposals");
        const ends = state === "PENDING" ? [PROPOSER, "APPROVED"] : ["opr_b", undefined];
        expect([put?.person, put?.decided?.as]).to.deep.equal(ends);
      });
    }
  }
});
