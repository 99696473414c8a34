/** What a workbook says about itself: its sheets, its number formats, and whether its formulas have been calculated. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as SourceError from "../SourceError.ts"
import type { Archive } from "./Archive.ts"
import { kindOf, type NumberFormat, ofId } from "./NumberFormat.ts"
import * as SharedStrings from "./SharedStrings.ts"
import * as Xml from "./Xml.ts"

export interface Sheet {
  readonly name: string
  readonly isVisible: boolean
  /** The path of its part in the archive. */
  readonly path: string
}

export interface Book {
  /** In the order of the tabs, without charts. */
  readonly sheets: ReadonlyArray<Sheet>
  /** Whether Excel would calculate every formula when it opens the workbook, because the program that wrote it can't. */
  readonly isUncalculated: boolean
  readonly styles: Effect.Effect<Styles, SourceError.SourceError>
  readonly strings: Effect.Effect<SharedStrings.SharedStrings, SourceError.SourceError>
}

/** The number format of a style. */
export type Styles = (style: number) => NumberFormat

interface Relation {
  readonly id: string
  /** The last word of its type. The words before it differ between the two forms of the standard. */
  readonly type: string
  readonly target: string
}

/** Reads a part that has no rows. */
const readPart = (archive: Archive, path: string, open: Xml.Handler<never>["open"], close: Xml.Handler<never>["close"] = () => undefined) =>
  Stream.runDrain(
    Xml.decode<never>(archive.source, path, () => ({ open, close, text: () => undefined, take: () => [] }))(archive.read(path))
  )

/** The path of a target, which is relative to the part that names it, or absolute. */
const pathOf = (base: string, target: string): string => {
  const address = `file:///${base}`
  return URL.canParse(target, address) ? decodeURI(new URL(target, address).pathname) : target
}

const relationsOf = Effect.fnUntraced(function*(archive: Archive, base: string) {
  const path = archive.find(base.replace(/[^/]*$/, (name) => `_rels/${name}.rels`))
  const relations: Array<Relation> = []
  if (path === undefined) return relations
  yield* readPart(archive, path, (name, attributes) => {
    const { Id: id, Target: target, TargetMode: mode, Type: type } = attributes
    if (name === "Relationship" && id !== undefined && target !== undefined && mode !== "External") {
      relations.push({ id, type: type?.split("/").at(-1) ?? "", target: pathOf(base, target) })
    }
  })
  return relations
})

const saveAs = "save it as an Excel workbook (.xlsx) or as CSV UTF-8"

const refuseOther = (archive: Archive, main: string | undefined): string =>
  main?.endsWith(".bin") === true
    ? `it is an Excel workbook in the binary format (.xlsb): ${saveAs}`
    : archive.some(/\.iwa$/) || archive.some(/^index\.zip$/)
    ? "it is a Numbers document: export it as an Excel workbook (.xlsx) or as CSV UTF-8"
    : archive.some(/^content\.xml$/) && archive.some(/^mimetype$/)
    ? `it is an OpenDocument file (.ods): ${saveAs}`
    : "it is a zip archive, but no Excel workbook: unpack the archive, and name the file in it"

const listSheets = Effect.fnUntraced(function*(archive: Archive, path: string, relations: ReadonlyArray<Relation>) {
  const targets = new Map(relations.filter(({ type }) => type === "worksheet").map(({ id, target }) => [id, target]))
  const sheets: Array<Sheet> = []
  let isWorkbook = false
  let isUncalculated = false
  yield* readPart(archive, path, (name, attributes) => {
    if (name === "workbook") isWorkbook = true
    else if (name === "calcPr") isUncalculated = Xml.isTrue(attributes["fullCalcOnLoad"])
    else if (name === "sheet") {
      const target = targets.get(Xml.attribute(attributes, "id") ?? "")
      const sheet = attributes["name"]
      if (target === undefined || sheet === undefined) return
      sheets.push({ name: sheet, isVisible: (attributes["state"] ?? "visible") === "visible", path: archive.find(target) ?? target })
    }
  })
  return { sheets, isUncalculated, isWorkbook }
})

const readStyles = (archive: Archive, path: string): Effect.Effect<Styles, SourceError.SourceError> =>
  Effect.suspend(() => {
    const codes = new Map<number, string>()
    const formatIds: Array<number> = []
    let isCellFormats = false
    return Effect.map(
      readPart(archive, path, (name, attributes) => {
        if (name === "cellXfs") isCellFormats = true
        else if (name === "numFmt") codes.set(Number(attributes["numFmtId"]), attributes["formatCode"] ?? "")
        else if (name === "xf" && isCellFormats) formatIds.push(Number(attributes["numFmtId"] ?? 0))
      }, (name) => {
        if (name === "cellXfs") isCellFormats = false
      }),
      (): Styles => {
        const known = new Map<number, NumberFormat>()
        return (style) => {
          const id = formatIds[style] ?? 0
          const format = known.get(id) ?? kindOf(codes.get(id) ?? ofId(id))
          known.set(id, format)
          return format
        }
      }
    )
  })

const general = kindOf("General")

/** Reads the parts that name the others. Fails for an archive that is no workbook. */
export const read = Effect.fnUntraced(function*(archive: Archive) {
  const fail = (reason: string) => SourceError.content(archive.source, reason)
  const main = (yield* relationsOf(archive, "")).find(({ type }) => type === "officeDocument")?.target
  const path = archive.find(main ?? "xl/workbook.xml")
  if (path === undefined || path.endsWith(".bin")) return yield* fail(refuseOther(archive, main))
  const relations = yield* relationsOf(archive, path)
  const { isUncalculated, isWorkbook, sheets } = yield* listSheets(archive, path, relations)
  if (!isWorkbook) return yield* fail(refuseOther(archive, main))
  if (sheets.length === 0) return yield* fail("the workbook has no sheet with cells")
  const other = (type: string) => {
    const target = relations.find((relation) => relation.type === type)?.target
    return target === undefined ? undefined : archive.find(target) ?? target
  }
  const styles = other("styles")
  const strings = other("sharedStrings")
  const book: Book = {
    sheets,
    isUncalculated,
    styles: styles === undefined ? Effect.succeed(() => general) : readStyles(archive, styles),
    strings: strings === undefined ? Effect.succeed(SharedStrings.none) : SharedStrings.read(archive, strings)
  }
  return book
})
