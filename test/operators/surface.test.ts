import { expect } from "chai";
import { pino } from "pino";

import { serverExposure } from "../../runtime/transport/exposure.js";
import { readVariables } from "../../runtime/variables.js";
import { parseFourEyes } from "../../src/operators/four-eyes.js";
import { startServer } from "../../src/server.js";
import { configOf } from "../support/config.js";
import { openTestDatabase } from "../support/databases.js";
import { NO_SEAL_KEY_FILE } from "../support/master-key.js";

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
