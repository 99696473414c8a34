/**
 * Reads secrets from the files that variables such as `PLAZA_API_KEY_FILE` name, as systemd credentials and Kubernetes secrets are
 * mounted. No message contains a secret or a path, because a secret is easily put where its path belongs.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as ApiKey from "@plaza-legacy/domain/ApiKey"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

const key = "PLAZA_API_KEY"

// The maximum size, so that a path to a device or a log does no harm.
const mostBytes = 64 * 1024

const complaints: Readonly<Record<string, string>> = {
  NotFound: "the file that it names does not exist",
  PermissionDenied: "this user may not read the file that it names"
}

const complaintOf = (error: PlatformError): string =>
  (error._tag === "SystemError" ? complaints[error.reason] : undefined) ?? "the file that it names can't be read"

const fileVariableOf = (variable: string): string => `${variable}_FILE`

const read = (variable: string, path: string): Effect.Effect<string, ConfigError.ConfigError, FileSystem.FileSystem> => {
  const refuse = (message: string) => ConfigError.InvalidData([fileVariableOf(variable)], message)
  return Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const { size, type } = yield* files.stat(path)
    if (type === "Directory") return yield* Effect.fail(refuse("it names a folder: name the file in it"))
    // A pipe, for example from a shell's <(command), reports no size.
    if (size > mostBytes) return yield* Effect.fail(refuse("the file that it names is too long for a secret"))
    const text = (yield* files.readFileString(path)).replace(/[\r\n]+$/, "")
    return text.trim() === "" ? yield* Effect.fail(refuse("the file that it names is empty")) : text
  }).pipe(Effect.catchTags({
    SystemError: (error) => Effect.fail(refuse(complaintOf(error))),
    BadArgument: (error) => Effect.fail(refuse(complaintOf(error)))
  }))
}

const nonBlank = (variable: string) => Effect.map(Config.option(Config.string(variable)), Option.filter((text) => text.trim() !== ""))

/** The secret in a variable, or in the file that the variable with the suffix `_FILE` names. Fails if both are set. */
export const secret = (variable: string): Effect.Effect<Option.Option<Redacted.Redacted>, ConfigError.ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [plain, path] = yield* Effect.all([nonBlank(variable), nonBlank(fileVariableOf(variable))])
    if (Option.isNone(path)) return Option.map(plain, Redacted.make)
    if (Option.isSome(plain)) {
      return yield* Effect.fail(ConfigError.InvalidData([fileVariableOf(variable)], `${variable} is set as well: unset one of them`))
    }
    return Option.some(Redacted.make(yield* read(variable, path.value)))
  })

/** The variable that the API key comes from, if one is set. */
export const keyVariable: Effect.Effect<Option.Option<string>, ConfigError.ConfigError> = Effect.flatMap(
  nonBlank(fileVariableOf(key)),
  // This doesn't read the file.
  (path) => Option.isSome(path) ? Effect.succeedSome(fileVariableOf(key)) : Effect.map(Config.option(Config.string(key)), Option.as(key))
)

const keyFromFile = Effect.flatMap(nonBlank(fileVariableOf(key)), (path) =>
  Option.isNone(path) ?
    Effect.succeedNone :
    Effect.flatMap(secret(key), (found) =>
      Either.match(ApiKey.parse(Option.match(found, { onNone: () => "", onSome: Redacted.value })), {
        onLeft: ({ message }) =>
          Effect.fail(ConfigError.InvalidData([fileVariableOf(key)], `the file that it names does not hold a key: ${message}`)),
        onRight: Effect.succeedSome
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
      Effect.withConfigProvider(environment)
    ))
    const { flattened } = environment
    return ConfigProvider.fromFlat(ConfigProvider.makeFlat({
      enumerateChildren: (path) => flattened.enumerateChildren(path),
      patch: flattened.patch,
      load: (path, primitive, split) =>
        path.join("_") !== key ? flattened.load(path, primitive, split) : Effect.flatMap(fromFile, Option.match({
          onNone: () => flattened.load(path, primitive, split),
          onSome: (found) => Effect.map(primitive.parse(Redacted.value(found)), (value) => [value])
        }))
    }))
  })
