/** How a call ends. */
import { isPlazaError } from "@plaza/sdk"

/** The error of this package that a call rejects with. Throws for every other end. */
export const failureOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    (value) => Promise.reject(new Error(`the call returned ${JSON.stringify(value)}`)),
    (error: unknown) => error
  )
  if (isPlazaError(error)) return error
  throw error
}

/** The items of a list. */
export const collect = async <A>(list: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  for await (const item of list) items.push(item)
  return items
}
