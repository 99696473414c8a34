/** An S3 server for tests, which verifies signatures, and a client that fills it. */
import { AwsClient } from "aws4fetch"
import { Effect } from "effect"
import { mkdtempSync, rmSync, utimesSync } from "node:fs"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import * as Path from "node:path"

interface S3rver {
  readonly run: (done: (error: Error | null, address: AddressInfo) => void) => void
  readonly close: (done: () => void) => void
}

// The package has no types.
const S3rver = createRequire(import.meta.url)("@20minutes/s3rver") as new(options: Readonly<Record<string, unknown>>) => S3rver

/** The key pair that the server knows. */
export const accessKeyId = "S3RVER"
export const secretAccessKey = "S3RVER"

/** Starts one with the bucket `shop`, and stops it with the scope. */
export const scoped = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(Path.join(tmpdir(), "plaza-s3-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const server = new S3rver({
    port: 0,
    address: "127.0.0.1",
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: "shop" }]
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) =>
      server.run((error, address) => resume(error === null || error === undefined ? Effect.succeed(address.port) : Effect.die(error)))
    ),
    () => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
  )
  const endpoint = `http://127.0.0.1:${port}`
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: "us-east-1" })
  /** Uploads an object. */
  const put = (key: string, body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async () => {
      const path = key.split("/").map((part) =>
        encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
      )
      const response = await client.fetch(`${endpoint}/shop/${path.join("/")}`, { method: "PUT", body, headers })
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    })
  /** Sets when an object was written, in seconds since the epoch. */
  const setTime = (key: string, time: number) =>
    Effect.sync(() => utimesSync(Path.join(directory, "shop", `${key}._S3rver_object`), time, time))
  return { endpoint, put, setTime }
})
