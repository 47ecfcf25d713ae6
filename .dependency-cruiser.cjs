// Who may import whom. The table stands in docs/architecture.md with its reasons.
const only = (folder, allowed) => ({
  name: `${folder}-imports`,
  severity: "error",
  from: { path: `^src/${folder}/` },
  to: { path: "^(src|gateway|test|bench)/", pathNot: [`^src/${folder}/`, ...allowed] },
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
    only("domain", []),
    {
      name: "domain-is-pure",
      comment: "No I/O, no clock, no randomness. Which phone numbers are valid is data (docs/adr/0003).",
      severity: "error",
      from: { path: "^src/domain/" },
      to: { dependencyTypes: ["core", "npm", "npm-dev"], pathNot: "node_modules/libphonenumber-js/" },
    },
    only("ledger", ["^src/domain/", "^src/cohort\\.ts$"]),
    only("storage", ["^src/domain/", "^src/cohort\\.ts$", "^src/ledger/(store|batch)\\.ts$"]),
    only("grpc", [
      "^src/domain/",
      "^src/cohort\\.ts$",
      "^src/ledger/",
      "^src/gen/",
      "^src/storage/(read|key)-port\\.ts$",
    ]),
    only("gen", []),
    {
      name: "gateway-stands-alone",
      comment: "The contract is the only thing that the two programs share.",
      severity: "error",
      from: { path: "^gateway/" },
      to: { path: "^(src|test|bench)/" },
    },
    {
      name: "nothing-imports-tests",
      severity: "error",
      from: { path: "^(src|gateway|bench)/" },
      to: { path: "^test/" },
    },
    {
      name: "only-tests-import-the-benchmark",
      severity: "error",
      from: { path: "^(src|gateway)/" },
      to: { path: "^bench/" },
    },
    {
      name: "programs-use-no-dev-dependency",
      severity: "error",
      from: { path: "^(src|gateway)/" },
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
