/** The media type of a file name is that of `mime`. */
import { it } from "@effect/vitest"
import { FastCheck } from "effect"
import mime from "mime/lite"
import types from "mime/types/standard.js"
import { expect } from "vitest"
import { ofFileName } from "../src/internal/upload/MediaType.ts"

const extensions = [...new Set(Object.values(types).flat().map((extension) => extension.replace("*", "")))]

it("every extension of the table has the same type", () => {
  const names = extensions.map((extension) => `photo.${extension}`)
  expect(ofFileName("photo.png")).toBe("image/png")
  expect(names.length).toBeGreaterThan(100)
  expect(names.map(ofFileName)).toEqual(names.map((name) => mime.getType(name)))
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
])("%j has the same type", (fileName) => {
  expect(ofFileName(fileName) ?? null).toBe(mime.getType(fileName))
})

const part = FastCheck.oneof(FastCheck.constantFrom(...extensions, ".", "/", "\\", "*", "\n"), FastCheck.string({ unit: "binary" }))

it.prop("every file name has the same type", [FastCheck.array(part, { maxLength: 5 })], ([parts]) => {
  const fileName = parts.join("")
  expect(ofFileName(fileName) ?? null).toBe(mime.getType(fileName))
})
