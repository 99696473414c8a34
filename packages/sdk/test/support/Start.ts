/** A sandbox in process with a client of it. */
import { type Options as SandboxOptions, startSandbox } from "@plaza/sandbox/promise"
import { createPlaza, type Options } from "@plaza/sdk"

/** Starts both. `await using` releases them. */
export const start = async ({ sandbox: sandboxOptions, ...options }: Partial<Options> & { readonly sandbox?: SandboxOptions } = {}) => {
  const sandbox = await startSandbox(sandboxOptions)
  const { apiKey, baseUrl, fetch } = sandbox
  const plaza = createPlaza({ apiKey, baseUrl, fetch, ...options })
  return {
    plaza,
    sandbox,
    [Symbol.asyncDispose]: async () => {
      await plaza.close()
      await sandbox.close()
    }
  }
}
