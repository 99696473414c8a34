/** The program of docs/guides/handle-errors.md, without Effect. */
import { type Failure, isPlazaError, type Plaza } from "@plaza/sdk"

/** The service did nothing, and may accept the call later. */
const isTemporary = ({ category, mayHaveHappened }: Failure) =>
  !mayHaveHappened && (category === "RateLimited" || category === "ServiceFault")

/** Creates a post, or returns undefined if the service can't accept it within seconds and none exists. Every other failure stays an error. */
export const postIfPossible = async (plaza: Plaza, text: string) => {
  try {
    // The default of `maxWait` is five minutes.
    return await plaza.posts.create({ text }, { maxWait: "5s" })
  } catch (error) {
    if (isPlazaError(error) && isTemporary(error)) return undefined
    throw error
  }
}
