/** One call of the SDK in a page, as it is installed. Only its size is measured. */
import { createPlaza } from "@plaza/sdk"

const plaza = createPlaza({ baseUrl: "https://host.invalid/open/v1", apiKey: "key" })

export const call = (): Promise<unknown> => plaza.store.setStock("1", 2)
