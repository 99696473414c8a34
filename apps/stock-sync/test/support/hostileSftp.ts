/** An SFTP server in the process of a test, which does to its client what the test says. */
import { Effect } from "effect"
import { type AddressInfo, createServer, type Socket } from "node:net"
import ssh2, { type Attributes, type AuthContext, type Connection, type SFTPWrapper } from "ssh2"
import * as KnownHosts from "../../src/source/remote/KnownHosts.ts"

export const { STATUS_CODE } = ssh2.utils.sftp

export interface File {
  readonly content: Buffer
  /** In seconds since the epoch. */
  readonly mtime: number
}

export interface Behaviour {
  /** The file of a path, at the number of times that it was asked for. */
  readonly file?: (path: string, times: number) => File | undefined
  /** The names of every folder, batch by batch until one has none. Each is a second newer than the one before it in its batch. */
  readonly list?: (batch: number) => ReadonlyArray<string>
  /** Called before a block is sent. False leaves the client without a response. */
  readonly onRead?: (position: number, client: Connection) => boolean
  /** The number of bytes that files really have. */
  readonly readable?: number
  /** What it does not say about files. */
  readonly hidden?: ReadonlyArray<keyof Attributes>
  readonly authenticate?: (context: AuthContext) => void
  readonly hasSftp?: boolean
  /** Called with each connection. False leaves it without a response. */
  readonly onConnection?: (socket: Socket) => boolean
}

const attributesOf = ({ content, mtime }: File) => ({ mode: 0o100644, uid: 0, gid: 0, size: content.length, atime: mtime, mtime })

/** Those of a server that leaves some out, which the types of the library do not provide for. */
const without = (attributes: Attributes, names: ReadonlyArray<keyof Attributes>) =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.some((each) => each === name))) as unknown as Attributes

const serve = (
  sftp: SFTPWrapper,
  client: Connection,
  { file = () => undefined, list = () => [], hidden = [], onRead = () => true, readable }: Behaviour
) => {
  const asked = new Map<string, number>()
  const handles = new Map<string, File>()
  let batches = 0
  const stat = (id: number, path: string) => {
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const found = file(path, asked.get(path) ?? 0)
    if (found === undefined) sftp.status(id, STATUS_CODE.NO_SUCH_FILE)
    else sftp.attrs(id, without(attributesOf(found), hidden))
  }
  sftp.on("STAT", stat)
  sftp.on("FSTAT", (id, handle) => stat(id, String(handle)))
  sftp.on("OPEN", (id, path) => {
    const found = file(path, asked.get(path) ?? 0)
    if (found === undefined) return sftp.status(id, STATUS_CODE.NO_SUCH_FILE)
    handles.set(path, found)
    sftp.handle(id, Buffer.from(path))
  })
  sftp.on("READ", (id, handle, position, length) => {
    const content = handles.get(String(handle))?.content.subarray(0, readable) ?? Buffer.alloc(0)
    if (!onRead(position, client)) return
    if (position >= content.length) return sftp.status(id, STATUS_CODE.EOF)
    sftp.data(id, content.subarray(position, position + length))
  })
  sftp.on("OPENDIR", (id) => sftp.handle(id, Buffer.from("folder")))
  sftp.on("READDIR", (id) => {
    const names = list(batches++)
    if (names.length === 0) return sftp.status(id, STATUS_CODE.EOF)
    sftp.name(id,
      names.map((filename, index) => ({ filename, longname: filename, attrs: attributesOf({ content: Buffer.alloc(0), mtime: index }) })))
  })
  sftp.on("CLOSE", (id) => sftp.status(id, STATUS_CODE.OK))
}

/** Starts one until the scope closes. */
export const scoped = (behaviour: Behaviour = {}) =>
  Effect.gen(function*() {
    const { private: hostKey, public: publicKey } = ssh2.utils.generateKeyPairSync("ed25519")
    const sockets = new Set<Socket>()
    const attempts: Array<string> = []
    const ssh = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
      client.on("error", () => undefined)
      client.on("authentication", (context) => {
        attempts.push(context.method)
        if (behaviour.authenticate === undefined) context.accept()
        else behaviour.authenticate(context)
      })
      client.on("session", (accept) => {
        accept().on("sftp", (acceptSftp, reject) => {
          if (behaviour.hasSftp === false) reject()
          else serve(acceptSftp(), client, behaviour)
        })
      })
    })
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket.once("close", () => sockets.delete(socket)).on("error", () => undefined))
      if (behaviour.onConnection?.(socket) !== false) ssh.injectSocket(socket)
      // One that is not read from does not notice its end.
      else socket.resume()
    })
    const port = yield* Effect.acquireRelease(
      // The address of a server on a port is no text.
      Effect.callback<number>((resume) =>
        void server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
      ),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )
    return {
      port,
      /** The fingerprint of its key. */
      fingerprint: KnownHosts.fingerprint(Buffer.from(publicKey.split(" ")[1] ?? "", "base64")),
      /** The methods of authentication that clients tried. */
      attempts,
      /** Waits until no client is connected. */
      disconnected: Effect.callback<void>((resume) => {
        const check = () => sockets.size === 0 ? resume(Effect.void) : void setImmediate(check)
        check()
      })
    }
  })
