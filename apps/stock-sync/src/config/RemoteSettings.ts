/** The settings of sources on servers: SFTP and S3. */
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { RemoteSecrets, RemoteSettings } from "../source/Open.ts"
import type { S3Credentials } from "../source/remote/S3.ts"
import { variableOf } from "../Wording.ts"
import * as Setting from "./Setting.ts"

const hostKeys = Setting.trimmed(
  "FINGERPRINT",
  (text) => {
    const prints = text.split(",").map((each) => each.trim().replace(/=+$/, ""))
    return prints.every((each) => /^SHA256:[A-Za-z0-9+/]{43}$/.test(each)) ? Option.some(prints) : Option.none()
  },
  "is not a fingerprint such as SHA256:..., as ssh-keygen -l prints it, or several with commas between them"
)

const trimmedText = Setting.trimmed("TEXT", Option.some<string>, Setting.text.complaint)

/** The options of every command that reads a source. */
export const options = {
  key: Setting.optional("source-key", Setting.file, {
    about: "A file with the private key that logs in to an SFTP server. Its passphrase is in STOCK_SYNC_SOURCE_KEY_PASSPHRASE",
    absent: "none"
  }),
  knownHosts: Setting.optional("known-hosts", Setting.file, {
    about: "A file with the keys of SFTP servers, in the form of OpenSSH",
    absent: "~/.ssh/known_hosts and /etc/ssh/ssh_known_hosts"
  }),
  hostKeys: Setting.optional("host-key", hostKeys, {
    about: "The fingerprint of the SFTP server's key, or several with commas between them, instead of known hosts",
    absent: "none"
  }),
  endpoint: Setting.optional("s3-endpoint", { ...trimmedText, placeholder: "URL" }, {
    about: "The address of an S3 server that is not AWS",
    absent: "AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else AWS"
  }),
  region: Setting.optional("s3-region", { ...trimmedText, placeholder: "REGION" }, {
    about: "The region of the S3 bucket",
    absent: "AWS_REGION or AWS_DEFAULT_REGION, else us-east-1"
  })
}

/** The secrets, by the names of their settings. They have variables and no options, because every user of the machine can read options. */
export const secretNames = [
  "source-password",
  "source-private-key",
  "source-key-passphrase",
  "s3-access-key-id",
  "s3-secret-access-key"
] as const

/** The variables with secrets, and those that name files with them. */
export const variables: ReadonlyArray<string> = secretNames.flatMap((name) => [variableOf(name), `${variableOf(name)}_FILE`])

type Given = Setting.Parsed<typeof options>

const nonBlank = (variable: string) => Effect.map(Config.option(Config.String(variable)), Option.filter((text) => text.trim() !== ""))

const firstOf = Effect.fnUntraced(function*(variables: ReadonlyArray<string>) {
  for (const variable of variables) {
    const found = yield* nonBlank(variable)
    if (Option.isSome(found)) return found.value.trim()
  }
  return undefined
})

const secret = (name: typeof secretNames[number]) => Effect.map(SecretFile.secret(variableOf(name)), Option.getOrUndefined)

/** The keys of this program, else the standard ones. */
const credentials: Effect.Effect<S3Credentials, Config.ConfigError, FileSystem.FileSystem> = Effect.gen(function*() {
  const trimmed = (text: string | undefined) => text === undefined ? undefined : Redacted.make(text.trim())
  const [id, key] = yield* Effect.all([secret("s3-access-key-id"), secret("s3-secret-access-key")])
  return id !== undefined || key !== undefined
    ? {
      accessKeyId: id === undefined ? undefined : Redacted.value(id).trim(),
      secretAccessKey: trimmed(key === undefined ? undefined : Redacted.value(key))
    }
    : {
      accessKeyId: yield* firstOf(["AWS_ACCESS_KEY_ID"]),
      secretAccessKey: trimmed(yield* firstOf(["AWS_SECRET_ACCESS_KEY"])),
      sessionToken: trimmed(yield* firstOf(["AWS_SESSION_TOKEN"]))
    }
})

/** The secrets for all kinds of servers. */
export const secrets: Effect.Effect<RemoteSecrets, Config.ConfigError, FileSystem.FileSystem> = Effect.gen(function*() {
  return {
    sftp: {
      password: yield* secret("source-password"),
      privateKey: yield* secret("source-private-key"),
      passphrase: yield* secret("source-key-passphrase"),
      agent: yield* firstOf(["SSH_AUTH_SOCK"])
    },
    credentials: yield* credentials
  }
})

/** The settings without secrets. */
export const resolve = ({ endpoint, hostKeys, key, knownHosts, region }: Given): Setting.Value<RemoteSettings> =>
  Effect.gen(function*() {
    return {
      sftp: { keyFile: yield* key, knownHosts: yield* knownHosts, hostKeys: yield* hostKeys },
      s3: {
        endpoint: (yield* endpoint) ?? (yield* firstOf(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"])),
        region: (yield* region) ?? (yield* firstOf(["AWS_REGION", "AWS_DEFAULT_REGION"])) ?? "us-east-1"
      }
    }
  })
