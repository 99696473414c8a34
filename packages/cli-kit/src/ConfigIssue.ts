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

const notSet = "is not set"

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1({
  // A variable is a text, so this is one that is not set.
  leafHook: (issue) => issue._tag === "InvalidType" && issue.ast._tag === "String" ? notSet : SchemaIssue.defaultLeafHook(issue)
})

/** The first problem: one thing to change at a time. */
export const of = ({ cause }: Config.ConfigError): ConfigIssue => {
  if (cause._tag === "SourceError") {
    // A file of a secret.
    return cause.cause instanceof Config.ConfigError ? of(cause.cause) : { variable: "", message: cause.message }
  }
  const [first] = issuesOf(cause.issue).issues
  const variable = (first?.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment)).join("_")
  const message = first?.message ?? cause.message
  if (message === notSet) return { variable, message: `${variable} ${notSet}` }
  // The client's messages begin with the variable.
  return { variable, message: message.startsWith(variable) ? message : `${variable} is invalid: ${message}` }
}
