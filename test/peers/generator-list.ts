import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { installNpm, run } from "./packages.js";

export interface Generator {
  /** With its version. */
  readonly name: string;
  /** The flags that matter. */
  readonly flags: string;
  /** The programs that generate and compile. */
  readonly needs: readonly string[];
  /** Where the generated client has the reason of a refusal. */
  readonly refusal: string;
  /** Generates and compiles, with the program of `generated/`. Throws if it cannot. */
  readonly make: (place: Place) => Made;
}

interface Place {
  /** The program of openapi-generator. */
  readonly jar: string;
  /** An empty folder. */
  readonly into: string;
}

export interface Made {
  /** The folder of the generated sources. */
  readonly sources: string;
  /** The type of an amount in a response. */
  readonly amount: string;
  /** The program that uses the client. Undefined: it is not run. */
  readonly command?: readonly string[];
}

const OPENAPI = resolve("openapi.json");
const PROGRAMS = resolve("test/peers/generated");
const PROTOC = ["protoc-gen-go 1.36.11", "protoc-gen-go-grpc 1.6.0", "protoc-gen-grpc-gateway 2.33.0"];
const NO_TYPE = "no type";
const OPENAPI_GENERATOR = "7.25.0";
/** Without it, a client of Go or Java rejects what it does not know. */
const OPEN = "-p disallowAdditionalPropertiesIfNotPresent=false";
const NOT_SOURCES = "--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";

/** Installs openapi-generator into the folder. Returns its program. */
export function installJar(folder: string): string {
  const artifact = `org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`;
  run("mvn", ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`], folder);
  return join(folder, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`);
}

const CSHARP = "src/Org.OpenAPITools/Model/Transaction.cs";
const KOTLIN = "src/main/kotlin/org/openapitools/client/models/Transaction.kt";

const KUBB_CONFIG = `
import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";

export default defineConfig({
  input: { path: ${JSON.stringify(OPENAPI)} },
  output: { path: "client", format: false, lint: false, extension: { ".ts": ".js" } },
  plugins: [pluginOas({ generators: [] }), pluginTs(), pluginClient({ client: "axios" })],
});
`;

const ORVAL_CONFIG = `
const baseUrl = { runtime: "process.env.KESC_URL" };
const output = { target: "client/kesc.ts", client: "fetch", baseUrl };
export default { kesc: { input: ${JSON.stringify(OPENAPI)}, output } };
`;

export const GENERATORS: readonly Generator[] = [
  openapiGenerator("go", "", ["go"], "GenericOpenAPIError.Model()", goClient),
  openapiGenerator("go", `${OPEN},useOneOfDiscriminatorLookup=true`, ["go"], "GenericOpenAPIError.Model()", goClient),
  openapiGenerator("java", "", ["mvn", "javac"], "ApiException.getResponseBody()", javaClient),
  openapiGenerator("java", OPEN, ["mvn", "javac"], "ApiException.getResponseBody()", javaClient),
  openapiGenerator("python", "", ["python3"], "ApiException.data", pythonClient),
  openapiGenerator("rust", "", ["cargo"], "RedeemError::UnknownValue", rustClient),
  openapiGenerator("typescript-fetch", "", [], "ResponseError.response", (client) =>
    typescriptClient("openapi-generator-typescript-fetch", client),
  ),
  ...["", "--type-mappings double=decimal"].map((flags) =>
    openapiGenerator("csharp", flags, [], "", (client) => ({
      amount: `${wordIn(client, CSHARP, /public (\w+) Amount /)}, not compiled`,
    })),
  ),
  ...["", "--type-mappings double=java.math.BigDecimal"].map((flags) =>
    openapiGenerator("kotlin", flags, [], "", (client) => ({
      amount: `${wordIn(client, KOTLIN, /val amount: ([\w.]+)/)}, not compiled`,
    })),
  ),
  goGenerator("oapi-codegen", "2.8.2", "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen", {
    flags: "-generate types,client",
    parameters: ["-package", "kesc", "-o", "kesc.go"],
    refusal: "RedeemResponse.ApplicationproblemJSON422",
  }),
  goGenerator("ogen", "1.25.0", "github.com/ogen-go/ogen/cmd/ogen", {
    flags: "",
    parameters: ["-package", "kesc", "-target", "."],
    refusal: "RedeemUnprocessableEntityHeaders",
  }),
  {
    name: PROTOC.at(-1) ?? "",
    flags: PROTOC.slice(0, -1).join(", "),
    needs: ["protoc", "go"],
    refusal: "",
    make: makeProtos,
  },
  npmGenerator("hey-api", "@hey-api/openapi-ts@0.99.0", {
    flags: "npm install typescript@6.0.3",
    beside: ["typescript@6.0.3"],
    command: ["openapi-ts", "-i", OPENAPI, "-o", "client", "-p", "@hey-api/sdk", "-p", "@hey-api/client-fetch"],
    refusal: "error",
  }),
  npmGenerator("kubb", "@kubb/cli@4.39.3", {
    beside: ["core", "plugin-client", "plugin-oas", "plugin-ts"]
      .map((name) => `@kubb/${name}@4.39.3`)
      .concat("axios@1.21.1"),
    flags: 'output.extension: { ".ts": ".js" }',
    files: { "kubb.config.ts": KUBB_CONFIG },
    command: ["kubb", "generate"],
    refusal: "AxiosError.response.data",
  }),
  npmGenerator("oazapfts", "oazapfts@7.5.0", {
    beside: ["@oazapfts/runtime@1.2.0"],
    command: ["oazapfts", OPENAPI, "client/kesc.ts"],
    refusal: "HttpError.data",
  }),
  npmGenerator("openapi-typescript", "openapi-typescript@7.13.0", {
    beside: ["openapi-fetch@0.17.0"],
    command: ["openapi-typescript", OPENAPI, "-o", "client/kesc.ts"],
    refusal: "error",
  }),
  npmGenerator("orval", "orval@8.38.0", {
    files: { "orval.config.mjs": ORVAL_CONFIG },
    command: ["orval", "--config", "orval.config.mjs"],
    refusal: "data",
  }),
  npmGenerator("swagger-typescript-api", "swagger-typescript-api@13.13.0", {
    command: ["swagger-typescript-api", "generate", "--path", OPENAPI, "-o", "client", "-n", "kesc.ts"],
    refusal: "HttpResponse.error",
  }),
  npmGenerator("typed-openapi", "typed-openapi@2.2.7", {
    command: ["typed-openapi", OPENAPI, "-o", "client/kesc.ts"],
    refusal: "data",
  }),
];

type Client = Omit<Made, "sources">;

/** A client of openapi-generator, which `compile` makes ready to run. */
function openapiGenerator(
  language: string,
  flags: string,
  needs: readonly string[],
  refusal: string,
  compile: (client: string) => Client,
): Generator {
  return {
    name: `openapi-generator ${OPENAPI_GENERATOR} ${language}`,
    flags,
    needs: ["mvn", "java", ...needs],
    refusal,
    make: ({ jar, into }) => {
      const sources = join(into, "client");
      const own = language === "go" ? ["-p", "packageName=kesc"] : [];
      const parameters = ["generate", "-g", language, "-i", OPENAPI, "-o", sources, NOT_SOURCES, ...own];
      run("java", ["-jar", jar, ...parameters, ...flags.split(" ").filter(Boolean)], into);
      return { sources, ...compile(sources) };
    },
  };
}

/** The word that the pattern captures in a file of the client. */
function wordIn(client: string, file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(join(client, file), "utf8"))?.[1] ?? NO_TYPE;
}

/** Compiles the package `kesc` of the folder and a program that uses it. */
function goClient(client: string, program = "openapi-generator-go"): Client {
  writeFileSync(join(client, "go.mod"), "module example.com/kesc\n\ngo 1.24\n");
  mkdirSync(join(client, "cmd"));
  copyFileSync(join(PROGRAMS, `${program}.go`), join(client, "cmd", "main.go"));
  run("go", ["mod", "tidy"], client);
  run("go", ["build", "-o", "program", "./cmd"], client);
  return { amount: goAmountIn(client), command: [join(client, "program")] };
}

function goAmountIn(folder: string): string {
  const files = readdirSync(folder).filter((file) => file.endsWith(".go"));
  const amounts = files.map((file) => wordIn(folder, file, /^type Transaction struct [^]*?\n\tAmount +(\w+)/m));
  return amounts.find((type) => type !== NO_TYPE) ?? NO_TYPE;
}

function javaClient(client: string): Client {
  const parameters = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=lib"];
  run("mvn", ["-q", "-B", "compile", ...parameters], client);
  const path = ["program", "target/classes", "lib/*"].map((part) => join(client, part)).join(":");
  const program = join(PROGRAMS, "openapi-generator-java.java");
  run("javac", ["-d", "program", "-cp", path, program], client);
  const file = "src/main/java/org/openapitools/client/model/Transaction.java";
  return { amount: wordIn(client, file, /private (\w+) amount;/), command: ["java", "-cp", path, "Client"] };
}

function pythonClient(client: string): Client {
  run("python3", ["-m", "venv", "python"], client);
  const python = join(client, "python", "bin", "python");
  run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "."], client);
  const amount = wordIn(client, "openapi_client/models/transaction.py", /^ {4}amount: \w+\[\w+\[(\w+)/m);
  return { amount, command: [python, join(PROGRAMS, "openapi-generator-python.py")] };
}

function rustClient(client: string): Client {
  const manifest = join(client, "Cargo.toml");
  const tokio = '\n[dependencies.tokio]\nversion = "^1"\nfeatures = ["macros", "rt"]\n';
  writeFileSync(manifest, readFileSync(manifest, "utf8") + tokio);
  mkdirSync(join(client, "src", "bin"));
  copyFileSync(join(PROGRAMS, "openapi-generator-rust.rs"), join(client, "src", "bin", "program.rs"));
  run("cargo", ["build", "--quiet"], client);
  const amount = wordIn(client, "src/models/transaction.rs", /pub amount: (\w+)/);
  return { amount, command: [join(client, "target", "debug", "program")] };
}

/** A generator of the Go module proxy. Its program in `generated/` has its name. */
function goGenerator(
  name: string,
  version: string,
  module: string,
  { flags, parameters, refusal }: { flags: string; parameters: readonly string[]; refusal: string },
): Generator {
  return {
    name: `${name} ${version}`,
    flags,
    needs: ["go"],
    refusal,
    make: ({ into }) => {
      run("go", ["run", `${module}@v${version}`, ...flags.split(" ").filter(Boolean), ...parameters, OPENAPI], into);
      return { sources: into, ...goClient(into, name) };
    },
  };
}

/** Compiles what the plugins of protoc make from the contract. */
function makeProtos({ into }: Place): Made {
  const packages = {
    go: "google.golang.org/protobuf/cmd/protoc-gen-go",
    "go-grpc": "google.golang.org/grpc/cmd/protoc-gen-go-grpc",
    "grpc-gateway": "github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-grpc-gateway",
  };
  const versions = PROTOC.map((plugin) => plugin.split(" ")[1] ?? "");
  const include = resolve("dist/proto/include");
  const parameters = Object.entries(packages).flatMap(([name, path], index) => {
    run("env", [`GOBIN=${into}`, "go", "install", `${path}@v${versions[index] ?? ""}`], into);
    return [`--plugin=${join(into, `protoc-gen-${name}`)}`, `--${name}_out=.`, `--${name}_opt=module=kesc`];
  });
  const files = readdirSync(join(include, "kesc/v1")).map((file) => join(include, "kesc/v1", file));
  run("protoc", ["-I", include, ...parameters, ...files], into);
  writeFileSync(join(into, "go.mod"), "module kesc\n\ngo 1.24\n");
  run("go", ["mod", "tidy"], into);
  run("go", ["build", "./..."], into);
  return { sources: into, amount: `${goAmountIn(join(into, "v1"))}, not run` };
}

/** A generator of npm. Its program in `generated/` has its name. */
function npmGenerator(
  name: string,
  pinned: string,
  { flags = "", beside = [], files = {}, command, refusal }: NpmGenerator,
): Generator {
  return {
    name: pinned.replace(/(?<=.)@/, " "),
    flags,
    needs: ["npm"],
    refusal,
    make: ({ into }) => {
      writeFileSync(join(into, "package.json"), '{ "type": "module" }');
      for (const [file, content] of Object.entries(files)) writeFileSync(join(into, file), content);
      installNpm([pinned, ...beside], into);
      const [program = "", ...parameters] = command;
      mkdirSync(join(into, "client"), { recursive: true });
      run(join(into, "node_modules", ".bin", program), parameters, into);
      return { sources: join(into, "client"), ...typescriptClient(name, join(into, "client")) };
    },
  };
}

interface NpmGenerator {
  readonly flags?: string;
  /** What the generator or its client imports. */
  readonly beside?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly refusal: string;
}

/** Checks the types of the client and of its program, and bundles both. */
function typescriptClient(name: string, client: string): Client {
  const folder = join(client, "..");
  for (const file of ["story.mts", `${name}.mts`]) copyFileSync(join(PROGRAMS, file), join(folder, file));
  const bin = resolve("node_modules/.bin");
  const types = ["--types", "node", "--typeRoots", resolve("node_modules/@types"), "--skipLibCheck"];
  const strict = ["--noEmit", "--strict", "--target", "es2023", "--module", "esnext", "--moduleResolution", "bundler"];
  run(join(bin, "tsc"), [...strict, ...types, `${name}.mts`], folder);
  // axios is CommonJS.
  const require = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
  const form = ["--bundle", "--platform=node", "--format=esm", `--banner:js=${require}`, "--log-level=warning"];
  run(join(bin, "esbuild"), [...form, `${name}.mts`, "--outfile=program.mjs"], folder);
  return { amount: "number", command: [process.execPath, join(folder, "program.mjs")] };
}
