/** The program of the page. The key stays in the memory of the page: whoever can read the page can read a key in its source. */
import { ClientError, FailureScope, Plaza } from "@plaza/client"
import * as Store from "@plaza/client/Store"
import { ProductId } from "@plaza/domain"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"

/** Only the service that the page uses, so that the browser loads less. */
const makeRuntime = (key: string) =>
  ManagedRuntime.make(Store.layer.pipe(
    Layer.provide(Plaza.layerOperations({ baseUrl: `${location.origin}/open/v1`, apiKey: Redacted.make(key) })),
    Layer.provide(FetchHttpClient.layer)
  ))

let current: { readonly key: string; readonly runtime: ReturnType<typeof makeRuntime> } | undefined

/** One runtime for a key, because each runtime has a rate limit of its own. */
const runtimeFor = (key: string) => {
  if (current?.key !== key) current = { key, runtime: makeRuntime(key) }
  return current.runtime
}

const setStock = (product: string, pieces: number) =>
  Effect.flatMap(Store.Store, (store) => store.setStock(ProductId.make(product), pieces)).pipe(
    Effect.as(`${product}: ${pieces} pieces`),
    Effect.catchIf(FailureScope.mayHaveHappened, () => Effect.succeed(`${product}: perhaps ${pieces} pieces; set it again`)),
    ClientError.catchCategory("NotFound", () => Effect.succeed(`${product}: the store has no such product`))
  )

const show = (text: string) => {
  const status = document.querySelector("[role=status]")
  if (status !== null) status.textContent = text
}

document.querySelector("form")?.addEventListener("submit", (event) => {
  event.preventDefault()
  if (!(event.target instanceof HTMLFormElement)) return
  const fields = new FormData(event.target)
  const textOf = (name: string) => {
    const value = fields.get(name)
    return typeof value === "string" ? value : ""
  }
  show("sending")
  runtimeFor(textOf("key")).runPromise(setStock(textOf("product"), Number(textOf("pieces"))))
    .then(show, (failure: unknown) => show(String(failure)))
})
