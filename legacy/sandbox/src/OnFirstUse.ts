/**
 * Functions that are made when they are first called: most of a sandbox is not used by a test or a short process, and a Schema
 * compiles when its decoder is made.
 *
 * @since 0.1.0
 */

/**
 * Makes the function at its first call.
 *
 * @since 0.1.0
 * @category constructors
 */
export const onFirstUse = <Args extends ReadonlyArray<unknown>, A>(make: () => (...args: Args) => A): (...args: Args) => A => {
  let made: ((...args: Args) => A) | undefined
  return (...args) => (made ??= make())(...args)
}
