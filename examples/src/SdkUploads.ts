import type { Plaza } from "@plaza/sdk"
import { createReadStream } from "node:fs"

/** Uploads a picture in each form, and returns the ids. */
export const uploadAll = async (plaza: Plaza, path: string, picture: Blob) => {
  const fileName = "mug.jpg"
  const uploaded = [
    await plaza.media.uploadFile(path),
    await plaza.media.upload({ fileName, content: picture }),
    await plaza.media.upload({ fileName, content: new Uint8Array(await picture.arrayBuffer()) }),
    // Opened again for a retry.
    await plaza.media.upload({ fileName, content: () => createReadStream(path) }),
    // Read once, so without a retry after its first bytes.
    await plaza.media.upload({ fileName, content: picture.stream(), size: picture.size })
  ]
  return uploaded.map(({ mediaId }) => mediaId)
}
