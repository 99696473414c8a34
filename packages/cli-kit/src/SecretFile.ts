/**
 * Reads secrets from the files that variables such as `PLAZA_API_KEY_FILE` name, as systemd credentials and Kubernetes secrets are
 * mounted. No message contains a secret or a path, because a secret is easily put where its path belongs.
 */
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ConfigIssue from "./ConfigIssue.ts"
import * as Text from "./Text.ts"

const key = "PLAZA_API_KEY"

// The maximum size, so that a path to a device or a log does no harm.
const maxBytes = 64 * 1024

const complaints: Readonly<Record<string, string>> = {
  NotFound: "the file that it names does not exist",
  PermissionDenied: "this user may not read the file that it names"
}

const fileVariableOf = (variable: string): string => `${variable}_FILE`

const refuse = (variable: string, message: string): Config.ConfigError => ConfigIssue.refuse(fileVariableOf(variable), message)

const read = (variable: string, path: string): Effect.Effect<string, Config.ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    if ((yield* files.stat(path)).type === "Directory") {
      return yield* Effect.fail(refuse(variable, "it names a folder: name the file in it"))
    }
    const { bytes } = yield* Effect.promise(() => import("./InputFile.ts"))
    const tooLong = () => Stream.fail(refuse(variable, "the file that it names is too long for a secret"))
    const content = yield* bytes(path).pipe(
      (stream) => Stream.limitBytes<PlatformError | Config.ConfigError, FileSystem.FileSystem>(stream, maxBytes, tooLong),
      Stream.runCollect
    )
    const text = Text.decode(Buffer.concat(content)).replace(/[\r\n]+$/, "")
    return text.trim() === "" ? yield* Effect.fail(refuse(variable, "the file that it names is empty")) : text
  }).pipe(Effect.catchTag("PlatformError", ({ reason }) =>
    Effect.fail(refuse(variable, complaints[reason._tag] ?? "the file that it names can't be read"))))

const nonBlank = (variable: string): Effect.Effect<Option.Option<string>, Config.ConfigError> =>
  Effect.map(Config.option(Config.String(variable)), Option.filter((text) => text.trim() !== ""))

/** The secret in a variable, or in the file that the variable with the suffix `_FILE` names. Fails if both are set. */
export const secret = (variable: string): Effect.Effect<Option.Option<Redacted.Redacted>, Config.ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [plain, path] = yield* Effect.all([nonBlank(variable), nonBlank(fileVariableOf(variable))])
    if (Option.isNone(path)) return Option.map(plain, (text) => Redacted.make(text))
    if (Option.isSome(plain)) return yield* Effect.fail(refuse(variable, `${variable} is set as well: unset one of them`))
    return Option.some(Redacted.make(yield* read(variable, path.value)))
  })

/** The variable that the API key comes from, if one is set. */
export const keyVariable: Effect.Effect<Option.Option<string>, Config.ConfigError> = Effect.flatMap(
  nonBlank(fileVariableOf(key)),
  // This doesn't read the file.
  (path) => Option.isSome(path) ? Effect.succeedSome(fileVariableOf(key)) : Effect.map(nonBlank(key), Option.map(() => key))
)

const keyFromFile = Effect.flatMap(nonBlank(fileVariableOf(key)), (path) =>
  Option.isNone(path) ?
    Effect.succeedNone :
    Effect.flatMap(secret(key), (found) =>
      Result.match(ApiKey.parse(Option.match(found, { onNone: () => "", onSome: Redacted.value })), {
        onFailure: ({ message }) => Effect.fail(refuse(key, `the file that it names does not hold a key: ${message}`)),
        onSuccess: (parsed) => Effect.succeedSome(parsed)
      })))

/**
 * The configuration with `PLAZA_API_KEY` from the file that `PLAZA_API_KEY_FILE` names, where that is set. The file is read once, when the
 * key is first needed.
 */
export const withKeyFile = (
  environment: ConfigProvider.ConfigProvider
): Effect.Effect<ConfigProvider.ConfigProvider, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const fromFile = yield* Effect.cached(keyFromFile.pipe(
      Effect.provideService(FileSystem.FileSystem, files),
      Effect.provideService(ConfigProvider.ConfigProvider, environment)
    ))
    return ConfigProvider.make((path) =>
      path.join("_") !== key ? environment.load(path) : Effect.flatMap(
        Effect.mapError(fromFile, (error) => new ConfigProvider.SourceError({ message: error.message, cause: error })),
        Option.match({
          onNone: () => environment.load(path),
          onSome: (found) => Effect.succeed(ConfigProvider.makeValue(Redacted.value(found)))
        })
      )
    )
  })
