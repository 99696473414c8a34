/**
 * The calls that each scope allows, for the form that creates a key.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { PlazaApiWithStories } from "@plaza/domain/PlazaApi"
import { AssumedApi } from "../AssumedApi.js"
import type { Assumptions } from "../Assumptions.js"

/** @since 0.1.0 @category models */
export interface ScopeUse {
  readonly scope: string
  /** Method and path of each call. */
  readonly calls: ReadonlyArray<string>
}

const callsOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<readonly [operation: string, call: string]> => {
  const calls: Array<readonly [string, string]> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, name, path } }) => {
      calls.push([name, `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`])
    }
  })
  return calls
}

/**
 * Returns every scope with the calls that require it.
 *
 * @since 0.1.0
 * @category reading
 */
export const scopeUses = ({ scopes, undocumented }: Pick<Assumptions, "scopes" | "undocumented">): ReadonlyArray<ScopeUse> => {
  const calls = [...callsOf(PlazaApiWithStories), ...(undocumented ? callsOf(AssumedApi) : [])]
  return [...new Set(Object.values(scopes).filter((scope) => scope !== undefined))].map((scope) => ({
    scope,
    calls: calls.flatMap(([operation, call]) => scopes[operation] === scope ? [call] : [])
  }))
}
