import { expect } from "chai";

import { makeDemo } from "../../../src/cli/commands/demo.js";
import type { Operator, OperatorName } from "../../../src/domain/operator.js";
import { now } from "../../../src/startup/clock.js";
import { OperatorError } from "../../../src/startup/operator-error.js";
import { keys } from "../../../src/storage/keys.js";
import { StoredAdministration } from "../../../src/storage/operators/administration.js";
import { newKey } from "../../operators/given.js";
import { openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { actOn } from "../../support/people.js";

/** The tables that a demo writes first. */
const ROWS = `
  SELECT (SELECT count(*) FROM operator_acts) AS acts, (SELECT count(*) FROM organizations) AS organizations,
         (SELECT count(*) FROM api_keys) AS keys, (SELECT count(*) FROM rail_accounts) AS accounts`;

describe("a demo on a database that is in use", () => {
  let opened: TestDatabase;
  beforeEach(async () => {
    opened = await openTestDatabase("sqlite");
  });
  afterEach(() => opened.dispose());

  const administration = () => new StoredAdministration(opened.database, { now, fourEyes: new Set() });
  const create = (name: string, by?: Operator) => {
    const operatorName = name as OperatorName;
    const act = { name: "createOperator", operatorName, roles: ["admin"], keySha256: newKey().sha256 } as const;
    return actOn(administration(), act, by);
  };
  const createOrganization = (isSandbox: boolean) =>
    keys(opened.database, now).createOrganization("Duka", { isSandbox });

  for (const [found, given, words] of [
    ["an organization that is no sandbox", () => createOrganization(false), /organization org_\w+ \("Duka"\)/],
    ["an operator whom it did not make", () => create("Amina"), /operator opr_\w+, whom no demo made/],
    [
      "such an operator beside its own people",
      async () => {
        await makeDemo(opened.database);
        await create("Wanjiku");
      },
      /operator opr_\w+, whom no demo made/,
    ],
  ] as const) {
    it(`is refused for ${found}, and writes nothing`, async () => {
      await given();
      const before = await opened.cell.reader.rows(ROWS);
      const error: unknown = await makeDemo(opened.database).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(OperatorError);
      const { message, exitCode } = error as OperatorError;
      expect([message, exitCode]).to.satisfy(([text]: [string]) => words.test(text) && exitCode === 2);
      expect(await opened.cell.reader.rows(ROWS)).to.deep.equal(before);
    });
  }

  it("begins again beside a sandbox organization, its own people, and those whom they made", async () => {
    await createOrganization(true);
    await makeDemo(opened.database);
    const [amina] = await administration().operators();
    await create("Carol", amina);
    const { people } = await makeDemo(opened.database);
    expect(people.map(({ name }) => name)).to.deep.equal(["Amina", "Brian"]);
    expect((await administration().operators()).map(({ name }) => name)).to.deep.equal(["Amina", "Brian", "Carol"]);
  });
});
