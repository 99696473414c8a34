/**
 * How an id or a username becomes one segment of a path, whatever its characters. Knows nothing of which path.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

// A URL parser resolves these away, percent-encoded or not, so that the request would reach another route.
const unsendable = (value: string): string | undefined =>
  value === ""
    ? "must not be empty"
    : value === "." || value === ".."
    ? `must not be "${value}", which a URL can't carry as a segment`
    : /\p{Surrogate}/u.test(value)
    ? "must be well-formed Unicode"
    : undefined

/**
 * Narrows an id to those that can travel in a path: not empty, not `.` or `..`, and well-formed Unicode (half a
 * surrogate pair has no UTF-8 form). Everything else, slashes and question marks included, is fine: {@link encode}
 * sees to it.
 *
 * @since 0.1.0
 * @category schemas
 */
export const inPath = <A extends string, I, R>(id: Schema.Schema<A, I, R>): Schema.filter<Schema.Schema<A, I, R>> =>
  id.pipe(Schema.filter((value) => unsendable(value)))

/**
 * Percent-encodes a value that {@link inPath} accepts, so that it is one segment and decodes to itself.
 *
 * @since 0.1.0
 * @category encoding
 */
export const encode = (value: string): string => encodeURIComponent(value)
