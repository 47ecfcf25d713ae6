import simpleImportSort from "eslint-plugin-simple-import-sort";
import tseslint from "typescript-eslint";

const ZOD = {
  selector: 'ImportDeclaration[importKind="value"][source.value="zod"] > ImportSpecifier',
  message: "Write import * as z: zod's languages come with the name z (docs/adr/0057).",
};
const MILLIS = {
  selector: "Identifier[name=/(Ms|Milliseconds)($|[A-Z])|_(MS|MILLISECONDS)(_|$)/]",
  message: "A span of time in milliseconds is called Millis: timeoutMillis, PAUSE_MILLIS_MAX.",
};
// What the policy of the console's pages forbids, and what would let a text become markup (docs/adr/0070).
const PAGES = [
  ["JSXAttribute[name.name='dangerouslySetInnerHTML']", "A text never becomes markup."],
  ["JSXAttribute[name.name='style']", "The policy forbids it. Use a class."],
  ["JSXAttribute[name.name=/^on[A-Z]/]", "The policy forbids it. The script adds listeners."],
  ["JSXOpeningElement[name.name='a']", "Use Link, which leads to own paths only."],
].map(([selector, message]) => ({ selector, message }));

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "src/gen/",
      "client/gen/",
      "console/gen/",
      "coverage/",
      "bench/out/",
      "examples/",
      "eslint.config.js",
      ".dependency-cruiser.cjs",
      "deploy/",
      "test/peers/*.*js",
      "test/peers/generated/",
    ],
  },
  tseslint.configs.strictTypeChecked,
  {
    plugins: { imports: simpleImportSort },
    languageOptions: { parserOptions: { projectService: true } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-module-boundary-types": "error",
      // Node's own modules, packages, our files: a group each, with a line between them.
      "imports/imports": ["error", { groups: [["^node:"], ["^[^.]"], ["^\\."]] }],
      "no-restricted-syntax": ["error", MILLIS, ZOD],
      "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      "max-len": ["error", { code: 1_000, comments: 100, ignoreUrls: true, ignoreTrailingComments: true }],
      "no-console": "error",
      eqeqeq: "error",
    },
  },
  {
    // A command runs within a process of others, too: those of a test.
    files: ["src/cli/**"],
    ignores: ["src/cli/kesc.ts", "src/cli/young-generation.ts", "src/cli/commands/output.ts"],
    rules: {
      "no-restricted-properties": [
        "error",
        ...["env", "stdin", "stdout", "stderr", "exitCode"].map((property) => ({
          object: "process",
          property,
          message: "Use that of invocation().",
        })),
      ],
    },
  },
  {
    files: ["console/**/*.tsx"],
    ignores: ["console/view/link.tsx"],
    rules: { "no-restricted-syntax": ["error", MILLIS, ZOD, ...PAGES] },
  },
  {
    // A suite is one function, and a table of cases may be long.
    files: ["test/**", "src/grpc/errors/*-refusals.ts"],
    rules: { "max-lines-per-function": "off", "max-lines": "off" },
  },
);
