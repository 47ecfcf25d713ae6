import { readFileSync } from "node:fs";

import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import { pino } from "pino";

import { serverExposure } from "../../runtime/transport/exposure.js";
import { readVariables } from "../../runtime/variables.js";
import type { OperatorId, OrganizationId } from "../../src/domain/values/ids.js";
import type { AnyRefusal } from "../../src/grpc/errors/refusal.js";
import { statusOf } from "../../src/grpc/errors/status.js";
import { readOperatorsContract } from "../../src/grpc/messages/contract.js";
import { parseFourEyes } from "../../src/operators/four-eyes.js";
import { passkeyIdOf } from "../../src/operators/operator.js";
import type { OperatorRefusal } from "../../src/operators/refusal.js";
import { startServer } from "../../src/server.js";
import { detailsOf } from "../support/callers/refusal.js";
import { configOf } from "../support/config.js";
import { openTestDatabase } from "../support/databases.js";
import { NO_SEAL_KEY_FILE } from "../support/master-key.js";
import { exampleOf, REASONS_OF_OPERATORS } from "../support/refusal-examples.js";

const organizationId = "org_1" as OrganizationId;
const operatorId = "opr_1" as OperatorId;

/** The refusals that the rules of books do not know. */
type Own = Exclude<OperatorRefusal, AnyRefusal>;

/** An example of each refusal. One without an example does not compile. */
const OWN: { readonly [Reason in Own["reason"]]: Extract<Own, { reason: Reason }> } = {
  MISSING_OPERATOR_KEY: { reason: "MISSING_OPERATOR_KEY" },
  INVALID_OPERATOR_KEY: { reason: "INVALID_OPERATOR_KEY" },
  ROLE_REQUIRED: { reason: "ROLE_REQUIRED", roles: ["support", "admin"] },
  ORGANIZATION_NOT_FOUND: { reason: "ORGANIZATION_NOT_FOUND", organizationId },
  ORGANIZATION_ALREADY_EXISTS: { reason: "ORGANIZATION_ALREADY_EXISTS", organizationId },
  CELL_NOT_FOUND: { reason: "CELL_NOT_FOUND", cells: 4 },
  RAIL_REGISTRATION_FAILED: { reason: "RAIL_REGISTRATION_FAILED", rail: "mpesa", code: "500.003.1001" },
  RAIL_PLACE_TAKEN: { reason: "RAIL_PLACE_TAKEN", place: "shortcode 1 at https://localhost", organizationId },
  OPERATOR_NOT_FOUND: { reason: "OPERATOR_NOT_FOUND", operatorId },
  OPERATOR_ALREADY_EXISTS: { reason: "OPERATOR_ALREADY_EXISTS", operatorId },
  OPERATOR_REVOKED: { reason: "OPERATOR_REVOKED", operatorId },
  VERIFICATION_REQUIRED: { reason: "VERIFICATION_REQUIRED" },
  SIGN_IN_REFUSED: { reason: "SIGN_IN_REFUSED" },
  PASSKEY_NOT_FOUND: { reason: "PASSKEY_NOT_FOUND", operatorId, passkeyId: passkeyIdOf("0".repeat(64)) },
};
/** Those of the rules of books that only operators meet are tested with all of these rules. */
const REFUSALS: readonly (OperatorRefusal | AnyRefusal)[] = [
  ...Object.values(OWN),
  ...REASONS_OF_OPERATORS.filter((reason) => reason !== "BOOK_RESTORED").map((reason) => exampleOf(reason)),
];

describe("the address of operators", () => {
  it("is off unless it is set", () => {
    expect(configOf({}).operatorAddress).to.equal(undefined);
  });

  for (const address of ["0.0.0.0:50052", "[::]:50052", "192.0.2.1:50052", "db.example.com:50052"]) {
    it(`is refused without TLS on ${address}, also with KESC_INSECURE`, async () => {
      const environment = { KESC_OPERATOR_ADDRESS: address, KESC_INSECURE: "true" };
      const variables = readVariables(environment);
      expect(variables.ok && serverExposure(variables.values).join()).to.match(
        /^KESC_OPERATOR_ADDRESS is .*TLS is off/,
      );
      const opened = await openTestDatabase("sqlite");
      try {
        const own = { KESC_GRPC_ADDRESS: "127.0.0.1:0", KESC_SEAL_KEY_FILE: NO_SEAL_KEY_FILE };
        const starting = startServer(configOf({ ...own, ...environment }), {
          database: opened.database,
          logger: pino({ enabled: false }),
        });
        const error = await starting.then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(String(error)).to.include(`KESC_OPERATOR_ADDRESS is ${address}`);
      } finally {
        await opened.dispose();
      }
    });
  }

  it("takes the loopback and a Unix socket without TLS", () => {
    for (const address of ["127.0.0.1:50052", "[::1]:50052", "localhost:50052", "unix:/run/kesc.sock"]) {
      const variables = readVariables({ KESC_OPERATOR_ADDRESS: address });
      expect(variables.ok && serverExposure(variables.values), address).to.deep.equal([]);
    }
  });
});

describe("the policy of four eyes", () => {
  it("is none, or groups", () => {
    expect(parseFourEyes("none")).to.deep.equal(new Set());
    expect(parseFourEyes("resume, operators")).to.deep.equal(new Set(["resume", "operators"]));
    expect(parseFourEyes("resume,all")).to.equal(undefined);
    expect(parseFourEyes("")).to.equal(undefined);
  });

  for (const text of ["all", "none,resume", "resume,", "operators;resume"]) {
    it(`refuses KESC_FOUR_EYES=${text}, by its name`, () => {
      const variables = readVariables({ KESC_FOUR_EYES: text });
      expect(!variables.ok && variables.problems.join()).to.match(/^KESC_FOUR_EYES must be none, or some of/);
    });
  }
});

describe("the refusals of the AdminService", () => {
  const files = readOperatorsContract().files;

  it("are those of its contract, and of docs/admin.md with their statuses and facts", () => {
    const values = files.getEnum("kesc.admin.v1.AdminErrorReason")?.values ?? [];
    const named = values
      .map(({ name }) => name.replace("ADMIN_ERROR_REASON_", ""))
      .filter((name) => name !== "UNSPECIFIED");
    expect(REFUSALS.map(({ reason }) => reason)).to.have.members(named);
    const rows = readFileSync("docs/admin.md", "utf8").matchAll(
      /^\| `([A-Z_]+)` +\| ([A-Z_]+) +\| ([a-z_, ]*?) *\|$/gm,
    );
    const documented = Array.from(rows, ([, reason, code, facts]) => [reason, code, facts]);
    const sent = REFUSALS.map((refusal) => {
      const { code, metadata } = statusOf(refusal);
      return [refusal.reason, Status[code], Object.keys(detailsOf(metadata).facts ?? {}).join(", ")];
    });
    expect(documented).to.have.deep.members(sent);
  });

  for (const refusal of Object.values(OWN)) {
    it(`${refusal.reason} says its facts in its text, too`, () => {
      const { details, metadata } = statusOf(refusal);
      const { reason, facts = {} } = detailsOf(metadata);
      expect(reason).to.equal(refusal.reason);
      for (const fact of Object.values(facts)) for (const part of fact.split(",")) expect(details).to.include(part);
    });
  }
});
