/** The first problem of a value that a schema rejects. */
import * as SchemaIssue from "effect/SchemaIssue"

/** The problems without a message of the schema. */
export const missing = "is missing"
export const unexpected = "is not a field"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "MissingKey" ? missing : issue._tag === "UnexpectedKey" ? unexpected : SchemaIssue.defaultLeafHook(issue)
})

/** The field, with dots between its levels and empty for the whole value, and what is wrong with it. */
export const first = (issue: SchemaIssue.Issue): { readonly field: string; readonly problem: string } => {
  const [{ message, path = [] } = { message: "is invalid" }] = format(issue).issues
  return { field: path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join("."), problem: message }
}
