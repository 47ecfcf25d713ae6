import { join } from "node:path";

import { expect } from "chai";

import { execute } from "../../support/databases.js";
import { type Ended, kesc, kescJson, Place, type Variables } from "../../support/service/kesc.js";

interface ListJson {
  readonly code: string;
  readonly books: readonly {
    readonly organization_id: string;
    readonly suspended: boolean;
    readonly rows_missing: number | null;
    readonly api_keys: readonly { readonly id: string }[];
  }[];
  readonly operators: readonly { readonly name: string; readonly roles: readonly string[] }[];
  readonly operator_rows_missing: number | null;
}

const MEANT = ["--on-database", "--note", "once more"];

describe("kesc confirm-restore", () => {
  let place: Place;
  let variables: Variables;
  let heads: string;
  let organizationId: string;
  let keyId: string;
  const run = (...args: readonly string[]): Promise<Ended> => kesc(args, variables);
  const restoredAddress = () =>
    ({ engine: "sqlite", filename: variables["DATABASE_URL"]?.slice("sqlite:".length) ?? "" }) as const;
  const list = (): Promise<ListJson> => kescJson<ListJson>(["confirm-restore", "--heads", heads], variables);
  /** What the operators did after the backup, and do once more after the restore. */
  const takeAway = async (): Promise<void> => {
    for (const args of [
      ["key", "revoke", keyId],
      ["operator", "revoke", "Sup"],
      ["operator", "set-roles", "App", "--role", "viewer"],
      ["org", "suspend", "Duka", "--yes"],
    ]) {
      expect(await run(...args, ...MEANT)).to.include({ code: 0 });
    }
  };

  before(async () => {
    place = await Place.migrated();
    heads = join(place.folder, "heads");
    const source = { ...place.variables };
    variables = source;
    ({ id: organizationId } = await kescJson<{ id: string }>(["org", "create", "--name", "Duka"], variables));
    const key = ["key", "create", "--org", "Duka", "--name", "till", "--all-scopes", "--never-expires"];
    ({ id: keyId } = await kescJson<{ id: string }>(key, variables));
    await run("operator", "create", "App", "--role", "admin");
    await run("operator", "create", "Sup", "--role", "support", ...MEANT);
    expect(await run("backup", join(place.folder, "backup.db"))).to.include({ code: 0 });
    await takeAway();
    expect(await run("verify", "--write-heads", heads)).to.include({ code: 0 });
    variables = { ...source, DATABASE_URL: `sqlite:${join(place.folder, "restored", "kesc.db")}` };
    const { code, stdout, stderr } = await run("restore", join(place.folder, "backup.db"));
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain("confirmed it: kesc confirm-restore\n");
  });
  after(() => {
    place.remove();
  });

  it("has nothing to do in a database that was not restored", async () => {
    const ended = await kesc(["confirm-restore"], place.variables);
    expect(ended).to.deep.equal({ code: 0, stdout: "No restore waits: keys and persons act.\n", stderr: "" });
  });

  it("names each key and person that the backup brought back, and the rows that it lacks", async () => {
    const { code, stdout } = await run("confirm-restore", "--heads", heads);
    expect(code).to.equal(0);
    for (const part of [
      `The backup lacks at least 2 rows after seq 2 of ${organizationId} ("Duka").`,
      "The backup lacks at least 2 rows about operators.",
      '("App"): admin; a key; last changed 20',
      '("Sup"): support; a key; last changed 20',
      `("Duka"): RESTORED, not suspended, no payouts; last row seq 2 of 20`,
      `    ${keyId} ("till"): accounts:read, `,
      "organizations that were suspended: kesc org suspend ORG",
      "2 operators, 1 API key and 0 proposals would act again. Nothing was done. ",
    ]) {
      expect(stdout).to.contain(part);
    }
    const without = await run("confirm-restore");
    expect(without.stdout).to.contain(
      "Nothing shows how many rows 1 book lost. Give newer heads or seals: --heads FILE",
    );
  });

  it("is a failure for kesc doctor, and comes before kesc book activate", async () => {
    const { stdout } = await run("doctor");
    expect(stdout).to.match(/^fail +restore +The database was restored at 20.* kesc confirm-restore /m);
    const early = await run("book", "activate", "Duka", "--yes");
    expect(early).to.include({ code: 1, stdout: "" });
    expect(early.stderr).to.contain(
      "Nothing was done. See who would act again, and confirm it first: kesc confirm-restore",
    );
  });

  it("takes no code but that of the list as it is, which changes with each that is taken away", async () => {
    const first = await list();
    expect(first.operators.map(({ name, roles }) => [name, ...roles])).to.deep.equal([
      ["App", "admin"],
      ["Sup", "support"],
    ]);
    expect(first.books.map((book) => book.api_keys.map(({ id }) => id))).to.deep.equal([[keyId]]);
    await takeAway();
    for (const code of [first.code, "", "0".repeat(12)]) {
      const refused = await run("confirm-restore", "--yes", code);
      expect(refused).to.include({ code: 1, stdout: "" });
      expect(refused.stderr).to.match(/^This is not the code of the list as it is now: .* Nothing was done\. /);
    }
    const second = await list();
    expect(second.operators).to.have.length(1);
    expect(second.books[0]).to.deep.include({ suspended: true, api_keys: [], rows_missing: 2 });
    expect(second.operator_rows_missing).to.equal(2);
  });

  it("confirms nothing while a book is open that an interrupted kesc restore --in-place did not mark", async () => {
    const address = restoredAddress();
    await execute(address, "UPDATE books SET state = 'OPEN'");
    const { code } = await list();
    const problem = /1 book would pay out at once: .* Run it again: kesc restore --in-place --yes/;
    expect((await run("confirm-restore", "--heads", heads)).stdout).to.match(problem);
    const refused = await run("confirm-restore", "--heads", heads, "--yes", code);
    expect(refused.stderr).to.match(problem);
    expect(refused.code).to.equal(1);
    await execute(address, "UPDATE books SET state = 'RESTORED'");
  });

  it("lets the others act with the code of the list, once", async () => {
    const { code } = await list();
    const confirmed = await run("confirm-restore", "--yes", code);
    expect(confirmed).to.include({ code: 0, stderr: "" });
    expect(confirmed.stdout).to.match(
      /^Confirmed: 1 operator, 0 API keys and 0 proposals act again\. Next: kesc book activate /,
    );
    expect((await run("confirm-restore", "--yes", code)).stdout).to.equal("No restore waits: keys and persons act.\n");
    const doctor = async (): Promise<string> => (await run("doctor")).stdout;
    expect(await doctor()).to.match(/^warn +restore +1 of the books are RESTORED/m);
    expect(await run("book", "activate", "Duka", "--yes")).to.include({ code: 0 });
    expect(await doctor()).to.match(/^ok +restore /m);
  });

  it("waits again after kesc restore --in-place, with the sessions ended", async () => {
    expect(await run("restore", "--in-place", "--yes")).to.include({ code: 0 });
    const rows = await execute(
      restoredAddress(),
      "SELECT confirmed_at IS NULL AS waits FROM restores ORDER BY restored_at",
    );
    expect(rows).to.deep.equal([{ waits: 0 }, { waits: 1 }]);
    expect((await list()).operators).to.have.length(1);
  });
});
