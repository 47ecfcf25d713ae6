// Bundles the programs into dist/bin, which is what ships: a process that links a thousand files spends
// most of its start on that (docs/adr/0057). It looks at no types: `make test` does.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";

const OUT = "dist/bin";

/**
 * An `import` of node:http reads each of its exports. One of them is a WebSocket, for which Node
 * loads undici: that takes longer than an empty program. `require` reads none.
 */
const requireHttp = {
  name: "require-http",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: "require" }));
    onLoad({ filter: /./, namespace: "require" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule("${path}");`,
    }));
  },
};

/** Knex asks for these by the name of the client alone. */
const DIALECTS = /^\.\/(cockroachdb|mariadb|mssql|mysql2?|oracle|oracledb|pgnative|redshift)$/;
const leaveDialects = {
  name: "leave-dialects",
  setup({ onResolve }) {
    onResolve({ filter: DIALECTS }, ({ path, importer }) =>
      importer.endsWith("/knex/lib/dialects/index.js") ? { path, external: true } : undefined,
    );
  },
};

rmSync(OUT, { recursive: true, force: true });
const { metafile } = await build({
  // Entries and chunks share one folder, so a module finds an entry at "./" before and after.
  entryPoints: [
    "src/cli/kesc.ts",
    "src/storage/sqlite/worker.ts",
    "src/grpc/services/files/file-worker.ts",
    "gateway/thread.ts",
  ],
  entryNames: "[name]",
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22.23",
  // Packages in CommonJS call require.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
  // better-sqlite3 has a native module. Knex and pg ask for the others only when they are told to.
  external: ["better-sqlite3", "pg-native", "pg-query-stream", "sqlite3"],
  plugins: [requireHttp, leaveDialects],
  sourcemap: true,
  sourcesContent: false,
  legalComments: "none",
  // Names stay, for stack traces. Node reads every character of what a command loads.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  metafile: true,
  logLevel: "warning",
});
chmodSync(join(OUT, "kesc.js"), 0o755);

/** The packages whose code is in the bundle, and their licences, which a copy must carry. */
const packages = new Set(
  Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
);
const licences = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  return [`${name} ${version}: ${license}`, ...texts.map((file) => readFileSync(join(folder, file), "utf8").trim())];
});
writeFileSync(join(OUT, "LICENSES.txt"), `${licences.map((texts) => texts.join("\n\n")).join("\n\n---\n\n")}\n`);
