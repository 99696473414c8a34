/**
 * Encodes an id or a username as one path segment.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

// A URL parser resolves `.` and `..`, percent-encoded or not, so the request would reach another route.
const unsendable = (value: string): string | undefined =>
  value === ""
    ? "must not be empty"
    : value === "." || value === ".."
    ? `must not be "${value}": a URL parser removes such a segment`
    : /\p{Surrogate}/u.test(value)
    ? "must be well-formed Unicode"
    : undefined

/**
 * Filters an id schema to values that can be a path segment: not empty, not `.` or `..`, and well-formed Unicode (a
 * lone surrogate has no UTF-8 form). Slashes and question marks are accepted; {@link encode} escapes them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const inPath = <S extends Schema.Schema<string>>(id: S): S["Rebuild"] => id.check(Schema.makeFilter(unsendable))

/**
 * Percent-encodes a value that {@link inPath} accepts. The result is one segment and decodes to the value.
 *
 * @since 0.1.0
 * @category encoding
 */
export const encode = (value: string): string => encodeURIComponent(value)
