import { INITIATOR_TRIES_MAX, LACKED_PRODUCTS, type Organization } from "../mpesa/organization.js";

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
  c2b_version: choice("c2bVersion", [undefined, 1, 2]),
  c2b_registration: choice("c2bRegistration", ["once", "again"]),
  confirms_as: choice("confirmsAs", ["till", "store"]),
  till_identifier_type: choice("tillIdentifierType", [undefined, 2, 4]),
  reversal_identifier_type: choice("reversalIdentifierType", [11, undefined]),
  b2c_ids: choice("b2cIds", ["required", "optional"]),
  status_result: choice("statusResult", [undefined, "25", "2032", "2033"]),
  org_info_success: choice("orgInfoSuccess", ["4000", "0"]),
  ids_used_by: choice("idsUsedBy", ["acceptance", "request", "payment"]),
  message_forms: choice("messageForms", ["one", "alternating"]),
  http_callbacks: choice("httpCallbacks", ["loopback", "private"]),
  is_initiator_locked: {
    allowed: "true or false",
    valueOf: ({ wrongPasswords }) => wrongPasswords >= INITIATOR_TRIES_MAX,
    set: (organization, value) => {
      if (typeof value !== "boolean") return false;
      organization.wrongPasswords = value ? INITIATOR_TRIES_MAX : 0;
      return true;
    },
  },
  lacks_initiator_role: flag("lacksInitiatorRole"),
  lacks_product: choice("lacksProduct", [undefined, ...LACKED_PRODUCTS]),
  is_validation_active: flag("isValidationActive"),
  is_pull_provisioned: flag("isPullProvisioned"),
  pull_offset: choice("pullOffset", ["rows", "pages"]),
  pull_times: choice("pullTimes", ["+03:00", "Z"]),
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

/** One of these values. Undefined is null outside. */
function choice<Name extends keyof Organization>(name: Name, values: readonly Organization[Name][]): Setting {
  return {
    allowed: values.map((value) => JSON.stringify(value ?? null)).join(" or "),
    valueOf: (organization) => organization[name] ?? null,
    set: (organization, value) => {
      const chosen = values.find((one) => (one ?? null) === value);
      if (chosen === undefined && value !== null) return false;
      if (chosen === undefined && !values.includes(undefined as Organization[Name])) return false;
      Object.assign(organization, { [name]: chosen });
      return true;
    },
  };
}

function flag(name: "isValidationActive" | "isPullProvisioned" | "lacksInitiatorRole"): Setting {
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
