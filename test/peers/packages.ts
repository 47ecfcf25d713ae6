import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PRINTED_MAX = 4_000;

/** Pinned: another version is another client. */
const NPM = {
  "mpesa-node": "0.1.3",
  "mpesa-api": "3.0.2",
  "daraja.js": "1.0.2",
  daraja: "1.0.1",
  mpesapay: "3.2.6",
  "mpesa-express": "1.0.6",
};

const PYPI = {
  mpesakit: "2.2.0",
  "daraja-sdk-py": "2.0.0",
  "daraja-v3": "0.2.1",
  "singularity-payments": "1.0.1",
  "mpesa-wrapper": "1.0.0",
  "mpesa-sdk": "2.0.0",
  pympesa: "1.0.1",
  "daraja-mpesa": "1.2.1",
  "python-daraja": "1.2.4",
  pydaraja: "0.3.7",
};

/** What the clients of PyPI import. They share it, since two of them share a module's name. */
const PYPI_SHARED = [
  "requests==2.34.2",
  "httpx==0.28.1",
  "pydantic[email]==2.14.4",
  "cryptography==50.0.2",
  "tenacity==9.2.1",
  "python-dotenv==1.2.4",
  "opentelemetry-api==1.45.2",
  "flask==3.1.3",
];

/** An M-Pesa that somebody else wrote, as a server in Python. */
const DARAJA_MOCK = "daraja-mock==1.0.5";

/** A client as a program to run. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Installs the clients of npm into `folder`. */
export function npmPeers(folder: string): Peer[] {
  writeFileSync(join(folder, "package.json"), "{}");
  const packages = Object.entries(NPM).map(([name, version]) => `${name}@${version}`);
  installNpm(packages, folder);
  return Object.entries(NPM).map(([name, version]) => ({
    name,
    version,
    command: [process.execPath, "--require", "./test/peers/redirect.cjs", "test/peers/npm.mjs", name],
    env: { CLIENTS: folder },
  }));
}

/** Installs packages of npm beside the package.json of `folder`. */
export function installNpm(packages: readonly string[], folder: string): void {
  const quiet = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  run("npm", ["install", ...quiet, ...packages], folder);
}

/** The Python in `folder`, and where it has the packages that programs of ours start. */
export interface Python {
  readonly program: string;
  readonly folder: string;
}

/** Makes a Python of its own in `folder`, with what the packages of PyPI import. */
export function installPython(folder: string): Python {
  run("python3", ["-m", "venv", "python"], folder);
  const python = { program: join(folder, "python", "bin", "python"), folder };
  pip(python, PYPI_SHARED);
  return python;
}

/** Installs the clients of PyPI, each into a folder of its own. */
export function pypiPeers(python: Python): Peer[] {
  return Object.entries(PYPI).map(([name, version]) => {
    const target = installed(python, `${name}==${version}`);
    const env = { PYTHONPATH: target, PYTHONDONTWRITEBYTECODE: "1" };
    return { name, version, command: [python.program, "test/peers/pypi.py", name], env };
  });
}

/** Installs the M-Pesa of others. Returns its folder. */
export function installDarajaMock(python: Python): string {
  return installed(python, DARAJA_MOCK);
}

/** Installs the schemas of ISO for payment files, and what reads them. Returns their folder. */
export function installSchemas(python: Python): string {
  pip(python, ["lxml==6.1.3"]);
  return installed(python, "sepaxml==2.7.0");
}

function installed(python: Python, pinned: string): string {
  const target = join(python.folder, pinned);
  mkdirSync(target);
  pip(python, ["--no-deps", "--target", target, pinned]);
  return target;
}

function pip({ program, folder }: Python, parameters: readonly string[]): void {
  run(program, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...parameters], folder);
}

/** Runs a program to its end. Throws the end of what it printed, if it fails. */
export function run(program: string, parameters: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, { cwd, encoding: "utf8", maxBuffer: 1e9 });
  if (status === 0) return;
  const printed = `${stdout}\n${stderr}`.trim().slice(-PRINTED_MAX);
  throw error ?? new Error(`${program} ${parameters.join(" ")}\n${printed}`);
}
