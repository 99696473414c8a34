/** What is wrong with a variable of the configuration. */
import * as Config from "effect/Config"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

export interface ConfigIssue {
  /** The name of the variable; empty if it is unknown. */
  readonly variable: string
  /** A sentence without a full stop, which begins with the name if it is known. */
  readonly message: string
}

/** The error of a variable. The message may begin with its name. */
export const refuse = (variable: string, message: string): Config.ConfigError =>
  new Config.ConfigError(new Schema.SchemaError(new SchemaIssue.Pointer([variable], new SchemaIssue.InvalidValue({ message }))))

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first problem: one thing to change at a time. */
export const of = ({ cause }: Config.ConfigError): ConfigIssue => {
  if (cause._tag === "SourceError") {
    // A file of a secret.
    return cause.cause instanceof Config.ConfigError ? of(cause.cause) : { variable: "", message: cause.message }
  }
  const [first] = issuesOf(cause.issue).issues
  const variable = (first?.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment)).join("_")
  const message = first?.message ?? cause.message
  // A variable is a text: this is the platform's message for one that is not set.
  if (/^Expected string( \||$)/.test(message)) return { variable, message: `${variable} is not set` }
  // The client's messages begin with the variable.
  return { variable, message: message.startsWith(variable) ? message : `${variable} is invalid: ${message}` }
}
