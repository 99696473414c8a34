/**
 * The OpenAPI document of a sandbox: the contract and the assumed operations, which are marked with
 * `x-plaza-assumed`.
 */
import { PlazaApi } from "@plaza/domain/PlazaApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { AssumedApi, StoriesApi } from "./AssumedApi.ts"
import type { Assumptions } from "./Assumptions.ts"

const about =
  "This file describes the interface of Plaza's sandbox. Operations marked with `x-plaza-assumed` are assumed by Plaza: the interface names them but does not show them. The real service may have them in another form, or not at all."

const merge = (
  first: OpenApi.OpenAPISpec,
  second: OpenApi.OpenAPISpec
): OpenApi.OpenAPISpec => {
  const paths = { ...first.paths }
  for (const [path, operations] of Object.entries(second.paths)) {
    paths[path] = { ...paths[path], ...operations }
  }
  // Schemas with the same name are equal, because both documents are generated from the domain.
  const schemas = Object.entries({ ...first.components.schemas, ...second.components.schemas })
  return {
    ...first,
    paths,
    components: {
      ...first.components,
      schemas: Object.fromEntries(schemas.sort(([a], [b]) => (a < b ? -1 : 1)))
    },
    tags: [...first.tags, ...second.tags.filter(({ name }) => first.tags.every((tag) => tag.name !== name))]
  }
}

/**
 * Generates the OpenAPI document. Without the undocumented operations it is the contract and `POST /stories`, whose path
 * the document states.
 */
export const openApi = ({ undocumented }: Pick<Assumptions, "undocumented">): OpenApi.OpenAPISpec => {
  const contract = OpenApi.fromApi(PlazaApi)
  const documented = merge(contract, OpenApi.fromApi(StoriesApi))
  const whole = undocumented ? merge(documented, OpenApi.fromApi(AssumedApi)) : documented
  return { ...whole, info: { ...whole.info, description: `${contract.info.description ?? ""}\n\n${about}` } }
}

/** An operation of a document with its method, in lower case, and its path. */
export interface DescribedOperation {
  readonly method: string
  readonly path: string
  readonly operation: OpenApi.OpenAPISpecOperation
}

const methods = ["get", "post", "put", "patch", "delete"] as const

/** The operations of a document, in its order. */
export const operationsOf = ({ paths }: OpenApi.OpenAPISpec): ReadonlyArray<DescribedOperation> =>
  Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [{ method, path, operation }]
    })
  )
