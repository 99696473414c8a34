/**
 * `Schema.TaggedError` for classes that most programs load and never use. The schema of such a class takes longer to create than the
 * rest of its module: decision 025 has the figures.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** The static properties of a class of `Schema.TaggedError`. */
const statics = [
  Schema.TypeId,
  "_tag",
  "annotations",
  "ast",
  "extend",
  "fields",
  "identifier",
  "make",
  "pipe",
  "toString",
  "transformOrFail",
  "transformOrFailFrom"
] as const

/**
 * `Schema.TaggedError` with its fields as a function. The first error, or the first use of a static property, creates the schema
 * class and makes it the base class of the result. From then on the result is a subclass as `Schema.TaggedError` would give it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const taggedError = <Self>(identifier: string) =>
<Tag extends string, Fields extends Schema.Struct.Fields>(
  tag: Tag,
  fields: () => Fields
): Schema.TaggedErrorClass<Self, Tag, { readonly _tag: Schema.tag<Tag> } & Fields> => {
  const make = () => Schema.TaggedError<unknown>(identifier)(tag, fields())
  let created: ReturnType<typeof make> | undefined
  const base = () => {
    if (created === undefined) {
      created = make()
      statics.forEach((name) => Reflect.deleteProperty(Deferred, name))
      Object.setPrototypeOf(Deferred, created)
      // True of every class. The type has no prototype.
      Object.setPrototypeOf(Deferred.prototype, created.prototype as object)
    }
    return created
  }
  class Deferred {
    constructor(...args: ReadonlyArray<unknown>) {
      // True because the prototype of the result is that of `new.target`, a subclass of this class.
      return Reflect.construct(base(), args, new.target) as Deferred
    }
  }
  for (const name of statics) {
    Object.defineProperty(Deferred, name, {
      configurable: true,
      get(): unknown {
        return Reflect.get(base(), name, this)
      }
    })
  }
  // True because every use of a static property and every error goes through `base`.
  return Deferred as unknown as Schema.TaggedErrorClass<Self, Tag, { readonly _tag: Schema.tag<Tag> } & Fields>
}
