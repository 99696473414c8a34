/**
 * The media type of a file by its name. A lookup in the table of `mime` as it is: the package's own index of the table takes longer to
 * build than the rest of the client to load.
 *
 * @since 0.1.0
 */
import types from "mime/types/standard.js"

const extensionsByType: Readonly<Record<string, ReadonlyArray<string>>> = types

/**
 * Returns the media type of a file name's extension; undefined for an unknown one. A name without a dot is its own extension.
 *
 * @since 0.1.0
 * @category lookup
 */
export const ofFileName = (fileName: string): string | undefined => {
  const name = fileName.replace(/^.*[/\\]/s, "").toLowerCase()
  const extension = name.replace(/^.*\./s, "")
  const isBare = extension.length >= name.length - 1
  // An extension with a star in the table belongs to another type.
  return (isBare && name.length < fileName.length) || extension.startsWith("*")
    ? undefined
    : Object.entries(extensionsByType).find(([, extensions]) => extensions.includes(extension))?.[0]
}
