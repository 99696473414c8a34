/** Stands in for the package of this name: starts the program on a free port. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

export class Wait {
  /** @param {string} path @param {number} port */
  static forHttp(path, port) {
    return { path, port }
  }
}

export class GenericContainer {
  /** @type {ReadonlyArray<number>} */
  #ports = []
  /** @type {{ readonly path: string, readonly port: number } | undefined} */
  #strategy

  /** @param {string} image */
  constructor(image) {
    if (image !== process.env["IMAGE_NAME"]) throw new Error(image)
  }

  /** @param {ReadonlyArray<number>} ports */
  withExposedPorts(...ports) {
    this.#ports = ports
    return this
  }

  /** @param {{ readonly path: string, readonly port: number }} strategy */
  withWaitStrategy(strategy) {
    this.#strategy = strategy
    return this
  }

  async start() {
    const plaza = spawn("plaza", process.env["IMAGE_COMMAND"]?.split(" ") ?? [], { stdio: ["pipe", "pipe", "inherit"] })
    let address = ""
    for await (const line of createInterface(plaza.stdout)) {
      address = line
      break
    }
    const port = Number(/:(\d+)\//.exec(address)?.[1])
    const started = {
      getHost: () => "localhost",
      /** @param {number} exposed */
      getMappedPort: (exposed) => {
        if (!this.#ports.includes(exposed)) throw new Error(`the port ${exposed} is not exposed`)
        return port
      },
      stop: async () => {
        plaza.stdin.end()
        await once(plaza, "exit")
      }
    }
    const { path = "", port: exposed = 0 } = this.#strategy ?? {}
    const { status } = await fetch(`http://${started.getHost()}:${started.getMappedPort(exposed)}${path}`)
    if (status !== 200) throw new Error(`${path} responds with ${status}`)
    return started
  }
}
