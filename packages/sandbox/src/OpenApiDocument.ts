/**
 * The OpenAPI document of a sandbox: the contract's, and beside it what the sandbox assumes, each such operation marked
 * with `x-plaza-assumed` and said to be so. Knows nothing of how it is published.
 *
 * @since 0.1.0
 */
import * as OpenApi from "@effect/platform/OpenApi"
import { PlazaApi } from "@plaza/domain/PlazaApi"
import { AssumedApi, StoriesApi } from "./AssumedApi.js"
import type { Assumptions } from "./Assumptions.js"

const about =
  "This file is the interface as Plaza's sandbox answers it. Operations marked with `x-plaza-assumed` are Plaza's own guess at what the interface names without showing it: the service itself may do them otherwise, or not at all."

// New fields may appear at any time.
const options = { additionalPropertiesStrategy: "allow" } as const

const beside = (
  first: OpenApi.OpenAPISpec,
  second: OpenApi.OpenAPISpec
): OpenApi.OpenAPISpec => {
  const paths = { ...first.paths }
  for (const [path, operations] of Object.entries(second.paths)) {
    paths[path] = { ...paths[path], ...operations }
  }
  // Schemas of one name are the same, for both are made from the domain's.
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
 * What a sandbox answers. Without the undocumented paths it is the contract and `POST /stories`, whose path is the
 * document's.
 *
 * @since 0.1.0
 * @category openapi
 */
export const openApi = ({ undocumented }: Pick<Assumptions, "undocumented">): OpenApi.OpenAPISpec => {
  const contract = OpenApi.fromApi(PlazaApi, options)
  const answered = beside(contract, OpenApi.fromApi(StoriesApi, options))
  const whole = undocumented ? beside(answered, OpenApi.fromApi(AssumedApi, options)) : answered
  return { ...whole, info: { ...whole.info, description: `${contract.info.description ?? ""}\n\n${about}` } }
}
