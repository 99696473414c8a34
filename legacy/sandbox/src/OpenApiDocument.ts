/**
 * The OpenAPI document of a sandbox: the contract and the assumed operations, which are marked with
 * `x-plaza-assumed`.
 *
 * @since 0.1.0
 */
import * as OpenApi from "@effect/platform/OpenApi"
import { PlazaApi } from "@plaza-legacy/domain/PlazaApi"
import { AssumedApi, StoriesApi } from "./AssumedApi.ts"
import type { Assumptions } from "./Assumptions.ts"

const about =
  "This file describes the interface of Plaza's sandbox. Operations marked with `x-plaza-assumed` are assumed by Plaza: the interface names them but does not show them. The real service may have them in another form, or not at all."

// New fields may appear at any time.
const options = { additionalPropertiesStrategy: "allow" } as const

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
 *
 * @since 0.1.0
 * @category openapi
 */
export const openApi = ({ undocumented }: Pick<Assumptions, "undocumented">): OpenApi.OpenAPISpec => {
  const contract = OpenApi.fromApi(PlazaApi, options)
  const documented = merge(contract, OpenApi.fromApi(StoriesApi, options))
  const whole = undocumented ? merge(documented, OpenApi.fromApi(AssumedApi, options)) : documented
  return { ...whole, info: { ...whole.info, description: `${contract.info.description ?? ""}\n\n${about}` } }
}
