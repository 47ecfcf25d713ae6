// Lays out the two packages in dist/packages, for `npm pack` (docs/adr/0047, docs/adr/0057): `kesc` is the bundle with
// its documents, `@kesc/client` the client for TypeScript alone. package.json of the checkout is the home of all that
// they have in common.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OUT = "dist/packages";
const DOCUMENTS = ["README.md", "CHANGELOG.md", "SECURITY.md", "openapi.json", "docs", "examples"];
const DEPLOYMENT = ["grafana", "haproxy", "kubernetes", "nginx", "prometheus", "systemd"].map(
  (name) => `deploy/${name}`,
);
const PROGRAMS = ["dist/bin", "dist/proto/kesc.binpb", "dist/proto/kesc-admin.binpb", "dist/proto/include"];
const SERVER = [...PROGRAMS, "dist/swagger-ui", ...DOCUMENTS, ...DEPLOYMENT];
const CLIENT = ["client", "client/gen"];

const { version, license, engines, description, dependencies, bin } = JSON.parse(readFileSync("package.json", "utf8"));
const common = { version, license, type: "module", engines };

/** A copy of the dependencies' ranges, of those names alone. */
function only(...names) {
  return Object.fromEntries(names.map((name) => [name, dependencies[name]]));
}

/** Makes the folder of a package, with its package.json and the licence. */
function begin(folder, manifest) {
  mkdirSync(join(OUT, folder), { recursive: true });
  writeFileSync(join(OUT, folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  cpSync("LICENSE", join(OUT, folder, "LICENSE"));
}

rmSync(OUT, { recursive: true, force: true });

// The bundle has all packages but this one, which has a native module.
begin("kesc", { name: "kesc", description, ...common, bin, dependencies: only("better-sqlite3") });
for (const path of SERVER) {
  const filter = (source) => !source.includes("node_modules");
  cpSync(path, join(OUT, "kesc", path), { recursive: true, filter });
}

begin("client", {
  name: "@kesc/client",
  description: "The client of KESC for TypeScript and JavaScript in Node.",
  ...common,
  sideEffects: false,
  exports: {
    ".": { types: "./client/kesc-client.d.ts", default: "./client/kesc-client.js" },
    "./package.json": "./package.json",
  },
  dependencies: only("@bufbuild/protobuf", "@grpc/grpc-js"),
});
cpSync("client/README.md", join(OUT, "client/README.md"));
for (const folder of CLIENT) {
  mkdirSync(join(OUT, "client", folder), { recursive: true });
  // By the names of the sources: dist keeps the files of sources that are gone.
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts"))) {
    for (const ending of [".js", ".d.ts"]) {
      const file = join(folder, name.replace(/\.ts$/, ending));
      // Without its source, the map of a file serves nobody.
      const text = readFileSync(join("dist", file), "utf8").replace(/\n\/\/# sourceMappingURL=.*\n?$/, "\n");
      writeFileSync(join(OUT, "client", file), text);
    }
  }
}

// So the examples import the package by its name here, too.
mkdirSync("examples/node_modules/@kesc", { recursive: true });
rmSync("examples/node_modules/@kesc/client", { force: true });
symlinkSync(join("../../..", OUT, "client"), "examples/node_modules/@kesc/client");
