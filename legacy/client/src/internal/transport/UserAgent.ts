/**
 * The `User-Agent` of every request: the application, if it is named, then this library.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"

/**
 * The version of this package; a test compares it with `package.json`.
 *
 * @since 0.1.0
 * @category constants
 */
export const version = "0.1.0"

// Products and comments of RFC 9110, section 10.1.5, which contain no line end.
const product = /^[!#$%&'*+.^_`|~\w-]+(\/[!#$%&'*+.^_`|~\w-]+)?( ([!#$%&'*+.^_`|~\w-]+(\/[!#$%&'*+.^_`|~\w-]+)?|\([ -'*-[\]-~]*\)))*$/

/**
 * Returns the header's value. The application is first, because products are in decreasing order of significance.
 * Source: RFC 9110, section 10.1.5.
 *
 * @since 0.1.0
 * @category constructors
 */
export const userAgent = (application: string | undefined): Either.Either<string, string> =>
  application === undefined
    ? Either.right(`plaza-client/${version}`)
    : product.test(application)
    ? Either.right(`${application} plaza-client/${version}`)
    : Either.left(`must be a name and a version such as "stock-robot/1.2", in ASCII without line ends`)
