import { readFileSync } from "node:fs";

import { expect } from "chai";

// Checks for known vulnerabilities without the network: test/advisories.json has the version that
// fixes each. `make audit` asks the registry as well.

interface Advisory {
  readonly package: string;
  readonly fixed: string;
  readonly id: string;
  readonly why: string;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

/** Whether `version` comes before `other`. */
function isBelow(version: string, other: string): boolean {
  const [left, right] = [version, other].map((text) => text.split(/[.-]/).map(Number));
  for (const [index, part] of (right ?? []).entries()) {
    const own = left?.[index] ?? 0;
    if (own !== part) return own < part;
  }
  return false;
}

describe("known vulnerabilities", () => {
  const advisories = JSON.parse(readFileSync("test/advisories.json", "utf8")) as readonly Advisory[];
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
  const locked = Object.entries(lock.packages).map(([path, { version }]) => ({
    name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    version: version ?? "",
  }));

  it("are fixed in every version that the lock file names", () => {
    const vulnerable = advisories.flatMap(({ package: name, fixed, id, why }) =>
      locked
        .filter((each) => each.name === name && isBelow(each.version, fixed))
        .map(({ version }) => `${name} ${version}: ${id} (${why}), fixed in ${fixed}`),
    );
    expect(vulnerable).to.deep.equal([]);
  });

  it("are listed for packages that we have, in the order of their names", () => {
    const names = advisories.map(({ package: name }) => name);
    expect(names.filter((name) => !locked.some((each) => each.name === name))).to.deep.equal([]);
    expect(names).to.deep.equal(names.toSorted());
  });

  for (const [version, other, below] of [
    ["1.10.8", "1.10.9", true],
    ["1.10.9", "1.10.9", false],
    ["1.9.9", "1.10.0", true],
    ["2.0.0", "1.14.4", false],
  ] as const) {
    it(`knows that ${version} is ${below ? "" : "not "}below ${other}`, () => {
      expect(isBelow(version, other)).to.equal(below);
    });
  }
});
