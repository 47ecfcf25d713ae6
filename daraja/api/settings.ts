import type { Organization } from "../mpesa/organization.js";

const PULL_LAG_SECONDS_MAX = 172_800;

interface Setting {
  /** What the value must be, for the error. */
  readonly allowed: string;
  readonly valueOf: (organization: Organization) => unknown;
  /** Returns false for a value that is not allowed. */
  readonly set: (organization: Organization, value: unknown) => boolean;
}

/** What Safaricom decides for a shortcode, and a test may change while the simulator runs. */
const SETTINGS: Readonly<Record<string, Setting>> = {
  c2b_version: {
    allowed: "1, 2, or null for both",
    valueOf: ({ c2bVersion }) => c2bVersion ?? null,
    set: (organization, value) => {
      if (value !== 1 && value !== 2 && value !== null) return false;
      organization.c2bVersion = value ?? undefined;
      return true;
    },
  },
  confirms_as: {
    allowed: '"till" or "store"',
    valueOf: ({ confirmsAs }) => confirmsAs,
    set: (organization, value) => {
      if (value !== "till" && value !== "store") return false;
      organization.confirmsAs = value;
      return true;
    },
  },
  is_validation_active: flag("isValidationActive"),
  is_pull_provisioned: flag("isPullProvisioned"),
  pull_offset: {
    allowed: '"rows" or "pages"',
    valueOf: ({ pullOffset }) => pullOffset,
    set: (organization, value) => {
      if (value !== "rows" && value !== "pages") return false;
      organization.pullOffset = value;
      return true;
    },
  },
  pull_lag_seconds: {
    allowed: "a number from 0 to 172800: 48 hours",
    valueOf: ({ pullLagMillis }) => pullLagMillis / 1_000,
    set: (organization, value) => {
      if (typeof value !== "number" || !(value >= 0 && value <= PULL_LAG_SECONDS_MAX)) return false;
      organization.pullLagMillis = value * 1_000;
      return true;
    },
  },
};

export function settingsOf(organization: Organization): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(SETTINGS).map(([name, { valueOf }]) => [name, valueOf(organization)]));
}

/** Sets each named setting, up to the first wrong one. Returns what is wrong with that. */
export function changeSettings(
  organization: Organization,
  changes: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const [name, value] of Object.entries(changes)) {
    const setting = SETTINGS[name];
    if (setting === undefined) return `Unknown setting ${name}. Settings are ${Object.keys(SETTINGS).join(", ")}`;
    if (!setting.set(organization, value)) return `${name} must be ${setting.allowed}`;
  }
  return undefined;
}

function flag(name: "isValidationActive" | "isPullProvisioned"): Setting {
  return {
    allowed: "true or false",
    valueOf: (organization) => organization[name],
    set: (organization, value) => {
      if (typeof value !== "boolean") return false;
      organization[name] = value;
      return true;
    },
  };
}
