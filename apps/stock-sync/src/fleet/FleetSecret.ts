/**
 * Seals the secrets of accounts, such as API keys, with AES-256-GCM. The key of the cipher derives from `STOCK_SYNC_FLEET_SECRET`. A second secret in that
 * variable, after a comma, opens what an earlier secret sealed, until `fleet migrate` has sealed it anew.
 */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import type { ConfigError } from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from "node:crypto"

/** Why a sealed text can't be opened. */
export type SealProblem = "malformed" | "otherSecret" | "damaged"

export class FleetSecret extends Context.Service<FleetSecret, {
  /** Seals a text for one account. A sealed text that is moved to another account does not open there. */
  readonly seal: (account: string, text: Redacted.Redacted) => Effect.Effect<string>
  readonly open: (account: string, sealed: string) => Result.Result<Redacted.Redacted, SealProblem>
  /** Whether a text is sealed under the first secret. */
  readonly isCurrent: (sealed: string) => boolean
  /** Names the secrets without revealing them. A sealed text `v1:NAME:...` has the name of its secret. */
  readonly names: ReadonlySet<string>
}>()("@plaza/stock-sync/fleet/FleetSecret") {}

/** The secrets of this process; none if it has none. */
export type Given = Option.Option<FleetSecret["Service"]>

const algorithm = "aes-256-gcm"
const ivLength = 12
const tagLength = 16
/** Shorter secrets can be guessed. */
const shortest = 16

// A fixed salt: the same secret must give the same cipher key on every machine. Guessing is slowed down by the cost alone.
const salt = "plaza-stock-sync fleet"
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }

interface CipherKey {
  /** Names the secret without revealing it. */
  readonly id: string
  readonly bytes: Buffer
}

const derive = (secret: string): CipherKey => {
  const bytes = scryptSync(secret, salt, 32, cost)
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes }
}

const sealed = /^v1:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/

const make = (secrets: readonly [string, ...ReadonlyArray<string>]): FleetSecret["Service"] => {
  const [first, ...others] = secrets
  const current = derive(first)
  const keys = new Map([current, ...others.map(derive)].map((key) => [key.id, key]))
  return {
    seal: (account, text) =>
      Effect.sync(() => {
        const iv = randomBytes(ivLength)
        const cipher = createCipheriv(algorithm, current.bytes, iv)
        cipher.setAAD(Buffer.from(account))
        const content = Buffer.concat([cipher.update(Redacted.value(text), "utf8"), cipher.final()])
        return `v1:${current.id}:${Buffer.concat([iv, cipher.getAuthTag(), content]).toString("base64url")}`
      }),
    open: (account, text) => {
      const [, id = "", content = ""] = sealed.exec(text) ?? []
      const bytes = Buffer.from(content, "base64url")
      if (bytes.length <= ivLength + tagLength) return Result.fail("malformed")
      const key = keys.get(id)
      if (key === undefined) return Result.fail("otherSecret")
      const decipher = createDecipheriv(algorithm, key.bytes, bytes.subarray(0, ivLength))
      decipher.setAAD(Buffer.from(account))
      decipher.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
      return Result.try({
        try: () => Redacted.make(Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]).toString("utf8")),
        catch: () => "damaged" as const
      })
    },
    isCurrent: (text) => sealed.exec(text)?.[1] === current.id,
    names: new Set(keys.keys())
  }
}

export const variable = "STOCK_SYNC_FLEET_SECRET"

const read = (text: string): Effect.Effect<FleetSecret["Service"], UsageError> => {
  const [first, ...others] = text.split(",").map((secret) => secret.trim()).filter((secret) => secret !== "")
  if (first === undefined || [first, ...others].some((secret) => secret.length < shortest)) {
    return new UsageError({
      message: `${variable} is too short: set it to at least ${shortest} random characters, such as the output of openssl rand -base64 32`
    })
  }
  return Effect.sync(() => make([first, ...others]))
}

/**
 * The secret from `STOCK_SYNC_FLEET_SECRET`, or from the file that `STOCK_SYNC_FLEET_SECRET_FILE` names. None if neither is set: accounts
 * then use keys from the environment and from files only.
 */
export const fromConfig: Effect.Effect<Given, UsageError | ConfigError, FileSystem.FileSystem> = Effect
  .flatMap(SecretFile.secret(variable), (given) => Effect.transposeOption(Option.map(given, (secret) => read(Redacted.value(secret)))))

/** For tests and programs that hold the secrets already. */
export const layer = (...secrets: readonly [string, ...ReadonlyArray<string>]): Layer.Layer<FleetSecret> =>
  Layer.sync(FleetSecret, () => make(secrets))
