/**
 * Variables of the configuration. The error of a variable is one sentence that names it, and doesn't contain its value, which may hold a
 * secret. A blank variable counts as not set.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

type Parse<A> = (text: string) => Result.Result<A, string>

/**
 * Parses the value of a variable. The failure of the parser is the violated requirement.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = <A>(name: string, text: string, parser: Parse<A>): Effect.Effect<A, Config.ConfigError> =>
  Result.match(parser(text), {
    onFailure: (requirement) => {
      const issue = new SchemaIssue.InvalidValue({ message: `${name} ${requirement}` })
      return Effect.fail(new Config.ConfigError(new Schema.SchemaError(new SchemaIssue.Pointer([name], issue))))
    },
    onSuccess: Effect.succeed
  })

/** A required variable. @since 0.1.0 @category config */
export const required = <A>(name: string, parser: Parse<A>): Config.Config<A> =>
  Config.schema(Schema.String.annotate({ message: `${name} is not set` }), name).pipe(
    Config.mapEffect((text) => parse(name, text, text.trim() === "" ? () => Result.fail("is not set") : parser))
  )

/** The text of a variable; empty if it is not set. @since 0.1.0 @category config */
export const text = (name: string): Config.Config<string> =>
  Config.map(Config.withDefault(Config.String(name), ""), (text) => text.trim() === "" ? "" : text)

/** A variable with a default. @since 0.1.0 @category config */
export const optional = <A>(name: string, parser: Parse<A>, otherwise: A): Config.Config<A> =>
  Config.mapEffect(text(name), (text) => text === "" ? Effect.succeed(otherwise) : parse(name, text, parser))
