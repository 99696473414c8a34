/** The fingerprint of a key, by which a ledger recognises its account. */
import { Redacted } from "effect"
import { createHash } from "node:crypto"
import { expect, it } from "vitest"
import * as AccountIdentity from "../src/sync/AccountIdentity.ts"

const fingerprintOf = (key: string) =>
  AccountIdentity.accountOf({ apiKey: Redacted.make(key), baseUrl: "https://shop.example/open/v1" }).keyFingerprint

it("is the beginning of the SHA-256 of the key", () => {
  expect(fingerprintOf("key_1")).toBe("0c08dbd4adb6472c")
  for (const key of ["k", "key_with_ümläuts", "x".repeat(55), "x".repeat(64), "x".repeat(1_000)]) {
    expect(fingerprintOf(key)).toBe(createHash("sha256").update(key).digest("hex").slice(0, 16))
  }
})
