/** The pages of the reference: one for each area of the interface, which the catalogue of operations names. */
import { operations } from "../InterfaceApi.ts"
import * as Layout from "./Layout.ts"

/** The page of an area, such as `posts`. */
export const pathOf = (area: string): Layout.Path => `${Layout.paths.reference}/${area}`

/** Where an operation is described; the overview for an unknown one. */
export const operationPath = (name: string): string => {
  const operation = operations.get(name)
  return operation === undefined ? Layout.paths.reference : `${pathOf(operation.area)}#${name}`
}

/** The pages of the areas, in the order of the catalogue. */
export const areaPaths: ReadonlyArray<Layout.Path> = [...new Set(Array.from(operations.values(), ({ area }) => pathOf(area)))]
