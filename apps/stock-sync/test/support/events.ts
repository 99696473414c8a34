/** What the events of a worker are made of. */
import { ProductId } from "@plaza/domain"
import type { Failure } from "../../src/sync/SyncStatus.ts"
import { utc } from "./utc.ts"

export const id = (text: string) => ProductId.make(text)

export const failure = (more: Partial<Failure> = {}): Failure => ({
  at: utc(0),
  about: "account",
  productId: undefined,
  tag: "InvalidApiKey",
  code: "INVALID_API_KEY",
  message: "the key is revoked",
  ...more
})
