import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";

import { readConfig as readConsoleConfig } from "../../console/config.js";
import { readConfig as readGatewayConfig } from "../../gateway/config.js";
import { PROBE_PATHS } from "../../gateway/rest/probes.js";
import { serverExposure } from "../../runtime/transport/exposure.js";
import { type Environment, readVariables } from "../../runtime/variables.js";
import { VARIABLES } from "../../runtime/variables/declarations.js";
import { JOBS } from "../../src/cli/metrics-file.js";
import { kescProgram } from "../../src/cli/program.js";
import { readConfig } from "../../src/startup/config.js";
import { KESC, Place } from "../support/service/kesc.js";
import { TLS_CERT_FILE, TLS_KEY_FILE } from "../support/tls/files.js";

// Nothing here runs a container. What the files say about our programs must be true of them.

const COMPOSE = "deploy/docker/compose.yaml";
const MANIFESTS = "deploy/kubernetes";
const UNITS = "deploy/systemd";

/** A program as a file would start it. */
interface Started {
  readonly where: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  /** The folders in which its secrets lie. */
  readonly secrets: readonly string[];
  /** From the signal to the kill. */
  readonly stopSeconds: number;
}

interface Probe {
  readonly grpc?: { readonly port: number };
  readonly httpGet?: { readonly path: string; readonly port: number };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: unknown;
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number };
        readonly terminationGracePeriodSeconds?: number;
        readonly volumes?: readonly { readonly name: string }[];
      };
    };
  };
}

interface ComposeService {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly stop_grace_period: string;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: object;
  readonly secrets: Readonly<Record<string, unknown>>;
}

const compose = parse(readFileSync(COMPOSE, "utf8"), { merge: true }) as Compose;
const composed = Object.entries(compose.services);

const manifests: readonly Manifest[] = readdirSync(MANIFESTS).flatMap((file) =>
  parseAllDocuments(readFileSync(join(MANIFESTS, file), "utf8")).map((document) => {
    expect(document.errors, file).to.deep.equal([]);
    return document.toJS() as Manifest;
  }),
);
const withPods = manifests.filter(({ kind }) => kind === "Deployment" || kind === "Job");

const units = readdirSync(UNITS)
  .filter((file) => /\.(service|timer)$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(UNITS, file), "utf8") }));
const JOB_FILES = `${UNITS}/jobs`;

function startedInCompose(): readonly Started[] {
  return composed
    .filter(([, { image }]) => image?.startsWith("kesc:") === true)
    .map(([name, service]) => ({
      where: `${COMPOSE}: ${name}`,
      args: service.command ?? [],
      environment: service.environment ?? {},
      secrets: (service.secrets ?? []).map((secret) => `/run/secrets/${secret}`),
      stopSeconds: Number.parseInt(service.stop_grace_period),
    }));
}

function startedInKubernetes(): readonly Started[] {
  return withPods.flatMap(({ metadata, spec: { template } }) =>
    template.spec.containers.map(({ args, env, volumeMounts = [] }) => ({
      where: `${MANIFESTS}: ${args[0] ?? ""} of ${metadata.name}`,
      args,
      environment: Object.fromEntries(env.map(({ name, value }) => [name, value])),
      secrets: volumeMounts.map(({ mountPath }) => mountPath),
      stopSeconds: template.spec.terminationGracePeriodSeconds ?? 30,
    })),
  );
}

function startedBySystemd(): readonly Started[] {
  const programs = units.filter(({ file }) => file.endsWith(".service") && !file.includes("@"));
  return programs.map(({ file, text }) => ({
    where: file,
    args: [/^ExecStart=.*kesc\.js (.+)$/m.exec(text)?.[1] ?? ""],
    environment: Object.fromEntries(
      [...text.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name ?? "", value]),
    ),
    secrets: ["/etc/kesc/keys", "/var/lib/kesc"],
    stopSeconds: Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]),
  }));
}

const started = [...startedInCompose(), ...startedInKubernetes(), ...startedBySystemd()];

/**
 * What the programs themselves say about an environment. The file of a database URL is not here.
 */
function problemsOf({ args: [command = ""], environment: given }: Started): readonly string[] {
  const { DATABASE_URL_FILE: file, ...rest } = given;
  const environment = file === undefined ? rest : { ...rest, DATABASE_URL: "postgres://kesc@postgres/kesc" };
  const read = { gateway: readGatewayConfig, console: readConsoleConfig }[command] ?? readConfig;
  const result = read(environment);
  if (!result.ok) return result.problems;
  const variables = readVariables(environment);
  return command === "server" && variables.ok ? serverExposure(variables.values) : [];
}

function portOf(address: string | undefined): number {
  return Number(address?.split(":").at(-1));
}

describe("what the files in deploy/ say", () => {
  it("is found", () => {
    expect(started.map(({ args: [command] }) => command)).to.deep.equal([
      ...["migrate", "server", "server", "gateway", "gateway", "console", "console"],
      ...["gateway", "migrate", "server", "console"],
      ...["console", "gateway", "server"],
    ]);
    const wrong = { KESC_GRPC_ADDRESS: "0.0.0.0:1", KESC_GRPC_ADRESS: "x" };
    const probe = { where: "", args: ["server"], secrets: [], stopSeconds: 1 };
    expect(problemsOf({ ...probe, environment: wrong })).to.have.lengthOf(1);
    expect(problemsOf({ ...probe, environment: { KESC_GRPC_ADDRESS: "0.0.0.0:1" } })).to.have.lengthOf(1);
  });

  for (const program of started) {
    it(`starts a program with settings that it takes: ${program.where}`, async () => {
      expect(problemsOf(program)).to.deep.equal([]);
      const [command, ...options] = program.args;
      const known = (await kescProgram([])).commands.find((each) => each.name() === command);
      const flags = options.filter((option) => option.startsWith("--"));
      expect(known?.options.map(({ long }) => long)).to.include.members(flags);
      const files = Object.entries(program.environment).filter(([name]) => name.endsWith("_FILE"));
      for (const [name, file = ""] of files) {
        expect(
          program.secrets.some((folder) => file === folder || file.startsWith(`${folder}/`)),
          name,
        ).to.equal(true);
      }
    });

    it(`gives it the time to stop: ${program.where}`, () => {
      const { KESC_SHUTDOWN_GRACE_SECONDS: grace = VARIABLES.KESC_SHUTDOWN_GRACE_SECONDS.fallback } =
        program.environment;
      // The gateway's first process waits five seconds more for the others.
      if (program.args[0] !== "migrate") expect(program.stopSeconds).to.be.greaterThan(Number(grace) + 5);
    });
  }
});

const ADMIN_ADDRESSES = ["KESC_ADMIN_ADDRESS", "KESC_HTTP_ADMIN_ADDRESS"];

describe("the manifests of Kubernetes", () => {
  it("let nothing run as root, with rights, or with a root folder that it can write", () => {
    for (const { metadata, spec } of withPods) {
      const { containers, securityContext } = spec.template.spec;
      expect(securityContext, metadata.name).to.include({ runAsNonRoot: true, runAsUser: 10_001 });
      for (const container of containers) {
        expect(container.securityContext, metadata.name).to.deep.equal({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  it("probe and publish ports on which the program listens, at paths that it has", () => {
    const programs = withPods
      .filter(({ kind }) => kind === "Deployment")
      .flatMap(({ metadata, spec }) => spec.template.spec.containers.map((container) => ({ metadata, container })));
    for (const {
      metadata,
      container: { args, env, ports = [], ...container },
    } of programs) {
      const value = new Map(env.map((variable) => [variable.name, variable.value]));
      const isServer = value.has("KESC_GRPC_ADDRESS");
      const names = ["KESC_GRPC_ADDRESS", "KESC_HTTP_ADDRESS", "KESC_CONSOLE_ADDRESS", ...ADMIN_ADDRESSES];
      const own = names.filter((name) => value.has(name)).map((name) => portOf(value.get(name)));
      const [main, admin] = own;
      expect(
        ports.map(({ containerPort }) => containerPort),
        `${args[0] ?? ""} of ${metadata.name}`,
      ).to.deep.equal(own);
      const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
      for (const { grpc, httpGet } of probes.filter((probe) => probe !== undefined)) {
        if (grpc === undefined) expect(httpGet?.port).to.equal(isServer ? admin : main);
        else expect({ isServer, port: grpc.port }).to.deep.equal({ isServer: true, port: main });
        if (httpGet !== undefined) expect(PROBE_PATHS).to.include(httpGet.path);
      }
      const name = `kesc-${args[0] ?? ""}`;
      const service = manifests.find((each) => each.kind === "Service" && each.metadata.name === name);
      expect(service?.spec.selector).to.deep.equal({ "app.kubernetes.io/name": metadata.name });
      expect(ports.map(({ name }) => name)).to.include(service?.spec.ports?.[0]?.targetPort);
    }
  });

  it("let the gateways call the Service of the servers", () => {
    const gateway = startedInKubernetes().find(({ args }) => args[0] === "gateway");
    const service = manifests.find(({ kind, metadata }) => kind === "Service" && metadata.name === "kesc-server");
    expect(gateway?.environment["KESC_GATEWAY_TARGET"]).to.equal(
      `kesc-server:${String(service?.spec.ports?.[0]?.port)}`,
    );
  });

  it("mount volumes that are there", () => {
    for (const { spec } of withPods) {
      const { containers, volumes = [] } = spec.template.spec;
      const mounted = containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
      expect(volumes.map(({ name }) => name)).to.deep.equal([...new Set(mounted)]);
    }
  });
});

describe("the jobs", () => {
  /** The command lines of the timers, and those of the CronJob, whose pod has all of them. */
  const inSystemd = readdirSync(JOB_FILES).map(
    (file) => /^JOB='(.+)'$/m.exec(readFileSync(join(JOB_FILES, file), "utf8"))?.[1] ?? file,
  );
  const cronJob = manifests.find(({ kind }) => kind === "CronJob") as unknown as {
    readonly spec: { readonly jobTemplate: Pick<Manifest, "spec"> };
  };
  const pod = cronJob.spec.jobTemplate.spec.template.spec;
  const inKubernetes = pod.containers.map(({ args }) => args.join(" "));

  it("are all there, with arguments that the commands take", async () => {
    const jobOf = (line: string): string | undefined => JOBS.find((job) => line.startsWith(job));
    expect(inSystemd.map(jobOf)).to.have.members(JOBS);
    expect(inKubernetes.map(jobOf)).to.have.members(JOBS.filter((job) => job !== "backup"));
    for (const line of [...inSystemd.map((each) => `${each} --metrics-file x.prom`), ...inKubernetes]) {
      const args = line.replace(/\$\(.*?\)/, "now").split(" ");
      let command = (await kescProgram(args)).commands.find((each) => each.name() === args[0]);
      let rest = args.slice(1);
      for (;;) {
        const next = command?.commands.find((each) => each.name() === rest[0]);
        if (next === undefined) break;
        command = next;
        rest = rest.slice(1);
      }
      const { unknown, operands } = command?.parseOptions(rest) ?? { unknown: [line], operands: [] };
      expect({ unknown, tooMany: operands.length > (command?.registeredArguments.length ?? 0) }, line).to.deep.equal({
        unknown: [],
        tooMany: false,
      });
    }
  });

  it("run as the shell of the unit starts them", async () => {
    const place = await Place.migrated();
    try {
      const unit = readFileSync(join(UNITS, "kesc-job@.service"), "utf8");
      const script = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit)?.[1] ?? "";
      const metrics = join(place.folder, "kesc_backup.prom");
      const ours = script
        .replace("/usr/bin/node", process.execPath)
        .replace("/opt/kesc/dist/bin/kesc.js", KESC)
        .replace("/var/cache/kesc/kesc_%i.prom", metrics);
      const job = /^JOB='(.+)'$/m.exec(readFileSync(join(JOB_FILES, "backup.env"), "utf8"))?.[1] ?? "";
      const JOB = job.replace("/var/lib/kesc/backups", place.folder);
      const { status, stderr } = spawnSync("/bin/sh", ["-c", ours], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], ...place.variables, JOB },
      });
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: "" });
      expect(readFileSync(metrics, "utf8")).to.include('command="backup"');
      expect(readdirSync(place.folder).filter((name) => /^kesc-\d{4}-\d\d-\d\dT\d{4}\.db$/.test(name))).to.have.length(
        1,
      );
    } finally {
      place.remove();
    }
  });

  it("run in Kubernetes as the other programs do, and only the purge has the secret of the tables' owner", () => {
    expect(pod.securityContext).to.include({ runAsNonRoot: true, runAsUser: 10_001 });
    for (const { args, securityContext, volumeMounts = [] } of pod.containers) {
      expect(securityContext).to.deep.equal(withPods[0]?.spec.template.spec.containers[0]?.securityContext);
      expect(volumeMounts.map(({ name }) => name)).to.deep.equal(
        args[0] === "purge" ? ["owner"] : ["secrets", "published"],
      );
    }
  });
});

describe("the command for root", () => {
  it("has the settings of the server, unless the caller sets others", () => {
    const folder = mkdtempSync(join(tmpdir(), "kesc-command-"));
    try {
      const database = "DATABASE_URL=postgres://kesc:$a'b@db/kesc?x=1&y=2";
      writeFileSync(join(folder, "server.env"), `# ours\n\n${database}\nKESC_SEAL_ORIGIN=ours.example`);
      writeFileSync(join(folder, "gateway.env"), "KESC_SEAL_ORIGIN=gateway\nKESC_HTTP_ADDRESS=127.0.0.1:8088\n");
      const script = readFileSync(join(UNITS, "kesc"), "utf8")
        .replaceAll("/etc/kesc/", `${folder}/`)
        .replace("$(id -u)", "0")
        .replace(/setpriv .* \/usr\/bin\/node \/opt\/kesc\/dist\/bin\/kesc\.js/, "env");
      const { PATH } = process.env;
      const env = { PATH, KESC_MASTER_KEY_FILE: "a copy" };
      const lines = execFileSync("/bin/sh", ["-c", script, "kesc", "GIVEN=one two"], { encoding: "utf8", env }).split(
        "\n",
      );
      expect(lines).to.include.members([
        database,
        "KESC_SEAL_ORIGIN=ours.example",
        "KESC_HTTP_ADDRESS=127.0.0.1:8088",
        "KESC_MASTER_KEY_FILE=a copy",
        `KESC_SEAL_KEY_FILE=${folder}/keys/seal.key`,
        "GIVEN=one two",
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("compose.yaml", () => {
  it("lets nothing keep rights, and nothing write outside of its volumes", () => {
    for (const [name, service] of composed) {
      expect(service.read_only, name).to.equal(true);
      expect(service.cap_drop, name).to.deep.equal(["ALL"]);
      expect(service.security_opt, name).to.deep.equal(["no-new-privileges:true"]);
    }
  });

  it("names services, secrets, networks and variables that are there", () => {
    const haproxy = readFileSync("deploy/haproxy/haproxy.cfg", "utf8");
    for (const [name, service] of composed) {
      expect(Object.keys(compose.services), name).to.include.members(Object.keys(service.depends_on ?? {}));
      expect(Object.keys(compose.secrets), name).to.include.members(service.secrets ?? []);
      expect(Object.keys(compose.networks), name).to.include.members(service.networks);
    }
    const variables = compose.services["haproxy"]?.environment ?? {};
    const read = new Set([...haproxy.matchAll(/\$\{(\w+)-/g)].map(([, name]) => name));
    expect(Object.keys(variables)).to.have.members([...read]);
    for (const [name, address] of Object.entries(variables).filter(([name]) =>
      /^(SERVER|GATEWAY|CONSOLE)\d$/.test(name),
    )) {
      expect(address, name).to.match(new RegExp(`^${name.toLowerCase()}:`));
    }
  });
});

describe("what other programs say about the files in deploy/", () => {
  const folder = mkdtempSync(join(tmpdir(), "kesc-configurations-"));
  const certificate = join(folder, "kesc.pem");
  writeFileSync(certificate, readFileSync(TLS_CERT_FILE, "utf8") + readFileSync(TLS_KEY_FILE, "utf8"));
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function isHere(program: string, ...args: string[]): boolean {
    return spawnSync(program, args).error === undefined;
  }

  it("HAProxy takes its configuration, if Debian's package haproxy is here", function () {
    if (!isHere("haproxy", "-v")) this.skip();
    const environment = { ...process.env, CERT: certificate };
    execFileSync("haproxy", ["-c", "-f", "deploy/haproxy/haproxy.cfg"], { stdio: "pipe", env: environment });
  });

  it("nginx takes its configuration, if Debian's package nginx is here", function () {
    if (!isHere("nginx", "-v")) this.skip();
    const ours = readFileSync("deploy/nginx/kesc.conf", "utf8")
      .replaceAll("/etc/nginx/kesc.crt", resolve(TLS_CERT_FILE))
      .replaceAll("/etc/nginx/kesc.key", resolve(TLS_KEY_FILE));
    const file = join(folder, "nginx.conf");
    writeFileSync(file, `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${ours}}\n`);
    execFileSync("nginx", ["-t", "-q", "-c", file], { stdio: "pipe" });
  });

  it("systemd takes the units, if it is here", function () {
    if (!isHere("systemd-analyze", "--version")) this.skip();
    // A timer is taken only beside its service.
    for (const { file, text } of units.toSorted((left, right) => right.file.localeCompare(left.file))) {
      // systemd looks for the program, and this machine may have it elsewhere.
      const copy = join(folder, file);
      writeFileSync(copy, text.replace("ExecStart=/usr/bin/node", `ExecStart=${process.execPath}`));
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", copy], { encoding: "utf8" });
      expect({ status, stderr }, file).to.deep.equal({ status: 0, stderr: "" });
    }
  });

  it("the image is built from every folder that the compiler reads", () => {
    const { include } = JSON.parse(readFileSync("tsconfig.json", "utf8")) as { readonly include: readonly string[] };
    const given = readFileSync("deploy/docker/Dockerfile.dockerignore", "utf8").split("\n");
    expect(given).to.include.members(include.map((folder) => `!${folder}`));
  });

  it("the steps of the image are a script that a shell takes", () => {
    execFileSync("sh", ["-n", "deploy/docker/build.sh"], { stdio: "pipe" });
  });
});
