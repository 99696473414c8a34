/** The media type of a file name is that of `mime`. */
import { it } from "@effect/vitest"
import { FastCheck } from "effect"
import mime from "mime/lite"
import types from "mime/types/standard.js"
import { expect } from "vitest"
import { ofFileName } from "../src/internal/upload/MediaType.js"

const extensions = [...new Set(Object.values(types).flat().map((extension) => extension.replace("*", "")))]

const agrees = (fileName: string): void => {
  expect(ofFileName(fileName) ?? null, fileName).toBe(mime.getType(fileName))
}

it("every extension of the table has the same type", () => {
  expect(ofFileName("photo.png")).toBe("image/png")
  expect(extensions.length).toBeGreaterThan(100)
  extensions.forEach((extension) => agrees(`photo.${extension}`))
})

it.each([
  "",
  ".",
  "png",
  ".png",
  "a/png",
  "a\\png",
  "a/.png",
  "a.b/c",
  "a.PNG",
  "a.tar.gz",
  "a.*js",
  "*js",
  "a.unknown",
  "a.",
  "a\n.png",
  "a.png\n"
])(
  "%j has the same type",
  agrees
)

const part = FastCheck.oneof(FastCheck.constantFrom(...extensions, ".", "/", "\\", "*", "\n"), FastCheck.string({ unit: "binary" }))

it.prop("every file name has the same type", [FastCheck.array(part, { maxLength: 5 })], ([parts]) => agrees(parts.join("")))
