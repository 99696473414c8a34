/** A sandbox in a process of its own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

/** Starts a sandbox. It needs `plaza` on the PATH. */
export const startSandbox = async () => {
  const child = spawn("plaza", ["sandbox", "start", "--port", "0", "--json", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] })
  const lines: ReadonlyArray<unknown> = await once(createInterface(child.stdout), "line")
  // True because `--json` prints one line in this form.
  const address = JSON.parse(String(lines[0])) as Readonly<Record<"apiKey" | "baseUrl" | "controlUrl", string>>
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(address.controlUrl + path, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(await response.text())
    return response.status === 204 ? undefined : response.json()
  }
  return {
    ...address,
    /** Restores the data, and removes all faults. */
    reset: () => control("POST", "/reset"),
    addFault: (fault: object) => control("POST", "/faults", fault),
    stop: async () => {
      child.kill()
      await once(child, "close")
    }
  }
}
