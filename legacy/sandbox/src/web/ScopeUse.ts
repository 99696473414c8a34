/**
 * The calls that each scope allows, for the form that creates a key.
 *
 * @since 0.1.0
 */
import { PlazaApiWithStories } from "@plaza-legacy/domain/PlazaApi"
import { AssumedApi } from "../AssumedApi.ts"
import type { Assumptions } from "../Assumptions.ts"
import { operationsOf } from "../http/Operation.ts"

/** @since 0.1.0 @category models */
export interface ScopeUse {
  readonly scope: string
  /** Method and path of each call. */
  readonly calls: ReadonlyArray<string>
}

/**
 * Returns every scope with the calls that require it.
 *
 * @since 0.1.0
 * @category reading
 */
export const scopeUses = ({ scopes, undocumented }: Pick<Assumptions, "scopes" | "undocumented">): ReadonlyArray<ScopeUse> => {
  const operations = [...operationsOf(PlazaApiWithStories), ...(undocumented ? operationsOf(AssumedApi) : [])]
  return [...new Set(Object.values(scopes).filter((scope) => scope !== undefined))].map((scope) => ({
    scope,
    calls: operations.flatMap(({ method, name, path }) => scopes[name] === scope ? [`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`] : [])
  }))
}
