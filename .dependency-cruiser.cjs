// Who may import whom. The table stands in docs/architecture.md with its reasons.
const only = (folder, others) => ({
  name: `${folder}-imports`,
  severity: "error",
  from: { path: below(folder) },
  to: { path: "^(runtime|src|gateway|test|bench)/", pathNot: [folder, ...others].map(below) },
});

/** A folder with all below it, or one file. */
const below = (path) => `^${path.replaceAll(".", "\\.")}${path.endsWith(".ts") ? "$" : "/"}`;

// Each folder of the gateway may import those before it, and nothing else of the gateway.
const GATEWAY_FOLDERS = ["contract", "problems", "json", "forms", "http", "upstream", "openapi", "rest", "pages"];
const gatewayFolderImports = (folder, index) => ({
  name: `gateway-${folder}-imports`,
  severity: "error",
  from: { path: `^gateway/${folder}/` },
  to: {
    path: "^gateway/",
    pathNot: [`^gateway/(${GATEWAY_FOLDERS.slice(0, index + 1).join("|")})/`],
  },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-junk-drawers",
      comment: "A file is called after what is in it.",
      severity: "error",
      from: {},
      to: { path: "/(utils?|helpers?|common|misc|shared|index)\\.[tj]s$", pathNot: "node_modules" },
    },
    only("runtime", []),
    only("src/domain", []),
    {
      name: "domain-is-pure",
      comment: "No I/O, no clock, no randomness. Which phone numbers are valid is data (docs/adr/0003).",
      severity: "error",
      from: { path: "^src/domain/" },
      to: { dependencyTypes: ["core", "npm", "npm-dev"], pathNot: "node_modules/libphonenumber-js/" },
    },
    only("src/gen", []),
    only("src/ledger", ["src/domain", "runtime"]),
    only("src/rails", ["src/domain", "runtime"]),
    only("src/settlement", ["src/domain", "src/ledger/ports", "src/rails", "runtime"]),
    only("src/webhooks", ["src/domain", "src/ledger/ports", "runtime"]),
    only("src/leases", ["runtime"]),
    only("src/reconcile", ["src/domain"]),
    only("src/statements", ["src/domain"]),
    only("src/events", ["src/domain", "src/ledger/ports", "runtime"]),
    only("src/seals", ["src/domain/values", "src/leases", "runtime"]),
    only("src/storage", [
      "src/domain",
      "src/ledger/ports",
      "src/ledger/commit-batch.ts",
      "src/settlement/ports",
      "src/reconcile",
      "src/statements/ports.ts",
      "src/statements/mark-ports.ts",
      "src/events",
      "src/leases/ports.ts",
      "src/seals/leaf.ts",
      "src/seals/ports.ts",
      "src/webhooks/ports",
      "src/webhooks/limits.ts",
      "runtime",
    ]),
    only("src/verify", [
      "src/domain",
      "src/seals/note.ts",
      "src/seals/tiles.ts",
      "src/storage/migrate.ts",
      "src/storage/secrets",
      "src/storage/sql/engine.ts",
      "src/storage/sql/reader.ts",
      "src/storage/sql/snapshot.ts",
    ]),
    only("src/grpc", [
      "src/domain",
      "src/events",
      "src/ledger",
      "src/rails",
      "src/settlement/ports",
      "src/seals",
      "src/webhooks",
      "src/statements",
      "src/gen",
      "runtime",
    ]),
    only("src/startup", [
      "src/storage",
      "src/seals/key-file.ts",
      "src/rails",
      "src/grpc/limits.ts",
      "src/webhooks/allowed.ts",
      "src/domain/values",
      "src/ledger/ports",
      "runtime",
    ]),
    only("gateway", ["runtime"]),
    ...GATEWAY_FOLDERS.map(gatewayFolderImports),
    {
      name: "nothing-imports-tests",
      severity: "error",
      from: { path: "^(runtime|src|gateway|bench)/" },
      to: { path: "^test/" },
    },
    {
      name: "only-tests-import-the-benchmark",
      severity: "error",
      from: { path: "^(runtime|src|gateway)/" },
      to: { path: "^bench/" },
    },
    {
      name: "programs-use-no-dev-dependency",
      severity: "error",
      from: { path: "^(runtime|src|gateway)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
  },
};
