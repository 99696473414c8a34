/**
 * Excel workbooks: what Excel shows is read, and what it does not show is rejected.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza/tabular/Format"
import * as Orders from "@plaza/tabular/Orders"
import * as Stock from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import * as Workbooks from "@plaza/testing/Workbooks"
import { Arbitrary, Effect, Result } from "effect"
import { all, bad, good, inChunks } from "./support/reading.ts"

const { cell, sheet, styled, workbook, zip } = Workbooks
const header = ["productId", "stock"]

const read = (content: string | Uint8Array, more: Partial<Format.FormatOptions> = {}, format: Format.Format = "xlsx") =>
  all(
    Stock.rows(format, { idColumn: "productId", stockColumn: "stock" }, {
      source: "stock.xlsx",
      sheetOption: "--sheet",
      acceptPartial: { names: [], option: (name) => `--accept-partial ${name}` },
      ...more
    })(inChunks(content, 1_000))
  )

const refusal = (content: string | Uint8Array, more: Partial<Format.FormatOptions> = {}) =>
  Effect.map(Effect.flip(read(content, more)), ({ message }) => message)

/** The rows of ids with the stock 1. */
const ids = (cells: ReadonlyArray<Workbooks.Cell>, options: Workbooks.WorkbookOptions = {}) =>
  Effect.map(read(sheet([header, ...cells.map((id) => [id, 1])], options)), (rows) =>
    rows.map((row) => row._tag === "Valid" ? row.productId : row.reason))

const stocks = (cells: ReadonlyArray<Workbooks.Cell>, options: Workbooks.WorkbookOptions = {}) =>
  Effect.map(read(sheet([header, ...cells.map((stock, index) => [`P-${index}`, stock])], options)), (rows) =>
    rows.map((row) => row._tag === "Valid" ? row.stock : row.reason))

describe("ids of a workbook", () => {
  it.effect("have the leading zeros and fixed characters of their number format", () =>
    Effect.gen(function*() {
      const formats = ["00000", "0000-000", "\"SKU-\"0000", "???0", "0_-"]
      expect(yield* ids([1, 2, 3, 4, 5].map((style) => styled(style, 42)), { formats })).toEqual([
        "00042",
        "0000-042",
        "SKU-0042",
        "42",
        "42"
      ])
    }))

  it.effect("have all digits of a number, whatever its format shortens, groups or adds", () =>
    Effect.gen(function*() {
      const formats = [1, 2, 3, 11, 49, "#,##0.00 \"€\"", "General\" pcs\"", "0,"]
      const cells = [12345678901234, ...formats.map((_, index) => styled(index + 1, 12345678901234)), styled(1, "4.2E1")]
      expect(yield* ids(cells, { formats })).toEqual([...Array.from({ length: 9 }, () => "12345678901234"), "42"])
    }))

  it.effect("keep the zeros of a text", () =>
    Effect.map(ids(["007", "'0042", "1.10"]), (read) => expect(read).toEqual(["007", "0042", "1.10"])))

  it.effect("are rejected where Excel has changed what was entered", () =>
    Effect.gen(function*() {
      const formats = [14, "dd.mm.yyyy", "[h]:mm", 9, 12]
      const cells = [
        45231,
        ...[1, 2, 3].map((style) => styled(style, 45231)),
        styled(4, 0.42),
        styled(4, 42),
        styled(5, 42),
        1.1,
        "1.23E+13"
      ]
      const [number, ...others] = yield* ids(cells, { formats })
      expect(number).toBe("45231")
      for (const reason of others.slice(0, 3)) expect(reason).toContain("productId is formatted as a date or a time")
      expect(others.slice(3)).toEqual([
        "productId 0.42 is a number with a fraction: format the column as text, and enter it again",
        "productId is formatted as a percentage: format the column as text, and enter it again",
        "productId is formatted as a fraction: format the column as text, and enter it again",
        "productId 1.1 is a number with a fraction: format the column as text, and enter it again",
        expect.stringContaining("rounded")
      ])
      expect(yield* ids([cell(`<c r="@"><v>1234567890123450</v></c>`)])).toEqual([
        "productId 1234567890123450 is a number with more than 15 digits, of which Excel keeps 15: format the column as text, and enter it again"
      ])
      expect(yield* ids([cell(`<c r="@" t="d"><v>2026-03-01</v></c>`)])).toEqual([expect.stringContaining("a date or a time")])
    }))

  it.effect("are no errors, truth values or formulas without a result", () =>
    Effect.map(
      ids([
        cell(`<c r="@" t="e"><f>A9</f><v>#N/A</v></c>`),
        true,
        cell(`<c r="@"><f>A9</f><v></v></c>`),
        cell(`<c r="@"><f>A9</f></c>`),
        null
      ]),
      (found) =>
        expect(found).toEqual([
          "productId is #N/A, an error of the spreadsheet: correct the formula",
          "productId is TRUE, which is no id: format the column as text, and enter it again",
          "productId is a formula that has not been calculated: open the workbook in Excel and save it",
          "productId is a formula that has not been calculated: open the workbook in Excel and save it",
          "productId is empty"
        ])
    ))

  it.effect("join the runs of a text with formats, without its pronunciation", () =>
    Effect.gen(function*() {
      const rich =
        `<r><rPr><b/></rPr><t>SO</t></r><r><t xml:space="preserve">CK</t></r><rPh sb="0" eb="1"><t>sokku</t></rPh><phoneticPr fontId="1"/>`
      const shared = ["<t>productId</t>", "<t>stock</t>", rich, "<t>A_x0042_&amp;C</t>"]
      const of = (index: number): Workbooks.Cell => cell(`<c r="@" t="s"><v>${index}</v></c>`)
      const inline: Workbooks.Cell = cell(`<c r="@" t="inlineStr"><is>${rich}</is></c>`)
      const formula: Workbooks.Cell = cell(`<c r="@" t="str"><f>UPPER("a")</f><v>A</v></c>`)
      const rows = yield* read(sheet([[of(0), of(1)], [of(2), 1], [of(3), 2], [inline, 3], [formula, 4]], { shared }))
      expect(rows).toEqual([good(2, "SOCK", 1), good(3, "AB&C", 2), good(4, "SOCK", 3), good(5, "A", 4)])
    }))
})

describe("the stock of a workbook", () => {
  it.effect("is the value of a cell, not its text", () =>
    Effect.gen(function*() {
      const formats = ["#,##0", "00000", "\"€\" #,##0.00", 9, "0,", ";;;", 11]
      expect(yield* stocks(formats.map((_, index) => styled(index + 1, 12000)), { formats })).toEqual(formats.map(() => 12000))
    }))

  it.effect("is the number that Excel shows after arithmetic with fractions", () =>
    Effect.gen(function*() {
      expect(yield* stocks([5.0000000001, 4.9999999999, cell(`<c r="@"><v>2.9999999999999996</v></c>`)])).toEqual([5, 5, 3])
      expect(yield* stocks([5.000000001, 0.5, styled(1, 4.6), styled(2, 0.5)], { formats: [1, 9] })).toEqual([
        "stock 5.000000001 is not a whole number",
        "stock 0.5 is not a whole number",
        "stock 4.6 is not a whole number",
        "stock 0.5 is not a whole number"
      ])
    }))

  it.effect("may be a number that is kept as text", () =>
    Effect.gen(function*() {
      const [plain, fraction, grouped] = yield* stocks(["12", "12.0", "1.000"])
      expect([plain, fraction]).toEqual([12, 12])
      expect(grouped).toContain("thousands")
    }))

  it.effect("is no error, truth value, date or formula without a result", () =>
    Effect.map(
      stocks([
        cell(`<c r="@" t="e"><v>#REF!</v></c>`),
        false,
        styled(1, 5),
        cell(`<c r="@"><f>SUM(B2)</f><v/></c>`),
        cell(`<c r="@"><f>SUM(B2)</f><v>7</v></c>`),
        cell(`<c r="@" t="str"><f>""</f><v></v></c>`),
        null
      ], { formats: [14] }),
      (found) =>
        expect(found).toEqual([
          "stock is #REF!, an error of the spreadsheet: correct the formula",
          "stock is false, not a number",
          "stock is formatted as a date or a time: give the column the format General",
          "stock is a formula that has not been calculated: open the workbook in Excel and save it",
          7,
          "stock is empty, which does not count as zero",
          "stock is empty, which does not count as zero"
        ])
    ))

  it.effect("is no 0 that a program wrote in place of a result that it can't calculate", () =>
    Effect.gen(function*() {
      const cells = [cell(`<c r="@"><f>A1+1</f><v>0</v></c>`), cell(`<c r="@"><f>A1+1</f><v>3</v></c>`), 0]
      expect(yield* stocks(cells, { more: `<calcPr calcId="124519" fullCalcOnLoad="1"/>` })).toEqual([
        "stock is a formula that has not been calculated: open the workbook in Excel and save it",
        3,
        0
      ])
      expect(yield* stocks(cells, { more: `<calcPr calcId="191029"/>` })).toEqual([0, 3, 0])
    }))
})

describe("the rows of a sheet", () => {
  it.effect("have Excel's numbers, also below empty and formatted rows and beside empty columns", () =>
    Effect.gen(function*() {
      const formatted: Workbooks.Cell = cell(`<c r="@" s="0"/>`)
      const rows = [
        [],
        [formatted, formatted],
        [null, "stock", null, " PRODUCTID "],
        [formatted],
        [null, 1, "note", "A"],
        ["only a note"],
        [" "]
      ]
      expect(yield* read(sheet([...rows, [null, 2, null, "B"], [formatted, formatted]]))).toEqual([
        good(5, "A", 1),
        bad(6, undefined, "productId is empty"),
        good(8, "B", 2)
      ])
    }))

  it.effect("are rejected, not left out, if only their other columns have content", () =>
    Effect.gen(function*() {
      // Enough rows that the columns are known before the last ones are parsed.
      const filler = Array.from({ length: 2_000 }, (_, index) => ["x", `P-${index}`, 1, "y"])
      const rows = [["x", " ", " ", "y"], [null, " ", null, "y"], [null, null, null, "y"], [" ", " ", " ", " "]]
      const found = yield* read(sheet([["note", ...header, "more"], ...filler, ...rows], { texts: "inline" }))
      expect(found.slice(filler.length)).toEqual([2_002, 2_003, 2_004].map((row) => bad(row, undefined, "productId is empty")))
    }))

  it.effect("below a title are found only without the title", () =>
    Effect.map(refusal(sheet([["Stock of today"], header, ["A", 1]])), (message) =>
      expect(message).toBe(
        "stock.xlsx, sheet \"Stock\", row 1: there is no column \"productId\"; the columns are \"Stock of today\". Add it, or rename a column. " +
          "Delete any lines above the header, such as a title; no row of it was used"
      )))

  it.effect("of hidden rows and columns and of a filter are read", () =>
    Effect.gen(function*() {
      const xml = `<worksheet xmlns="${Workbooks.main}"><cols><col min="1" max="1" hidden="1"/></cols><sheetData>` +
        `<row r="1"><c r="A1" t="str"><v>productId</v></c><c r="B1" t="str"><v>stock</v></c></row>` +
        `<row r="2" hidden="1"><c r="A2" t="str"><v>A</v></c><c r="B2"><v>1</v></c></row>` +
        `</sheetData><autoFilter ref="A1:B2"/><mergeCells><mergeCell ref="A3:A4"/></mergeCells></worksheet>`
      expect(yield* read(workbook({ sheets: [{ xml }] }))).toEqual([good(2, "A", 1)])
    }))

  it.effect("need no references, no size and no declaration, and may have prefixes and extensions", () =>
    Effect.gen(function*() {
      const strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
      const xml = `<x:worksheet xmlns:x="${strict}"><x:sheetData>` +
        `<x:row><x:c t="inlineStr"><x:is><x:t>productId</x:t></x:is></x:c><x:c t="inlineStr"><x:is><x:t>stock</x:t></x:is></x:c></x:row>` +
        `<x:row><x:c t="str"><x:v>A</x:v></x:c><x:c><x:v>1</x:v></x:c></x:row><x:row r="9"><x:c r="b9"><x:v>2</x:v></x:c></x:row>` +
        `</x:sheetData><x:extLst><x:ext><x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c></x:row></x:ext></x:extLst></x:worksheet>`
      const parts = {
        "_rels/.rels": Workbooks.relations([["r1", "officeDocument", "/xl/Workbook.xml"]],
          "http://purl.oclc.org/ooxml/officeDocument/relationships"),
        "xl/workbook.xml":
          `<x:workbook xmlns:x="${strict}" xmlns:d="urn:r"><x:sheets><x:sheet name="S" sheetId="7" d:id="R9"/></x:sheets></x:workbook>`,
        "xl/_rels/workbook.xml.rels": Workbooks.relations([["R9", "worksheet", "/xl/worksheets/Sheet1.xml"]]),
        "xl/styles.xml": null,
        "xl/sharedStrings.xml": null
      }
      expect(yield* read(workbook({ sheets: [{ xml }], parts }))).toEqual([good(2, "A", 1), bad(9, undefined, "productId is empty")])
    }))

  it.effect("may be in UTF-16 or another declared encoding", () =>
    Effect.gen(function*() {
      const xml = (encoding: string) =>
        `<?xml version="1.0" encoding="${encoding}"?><worksheet xmlns="${Workbooks.main}"><sheetData><row><c t="str"><v>productId</v></c>` +
        `<c t="str"><v>stock</v></c></row><row><c t="str"><v>Müsli</v></c><c><v>1</v></c></row></sheetData></worksheet>`
      for (
        const bytes of [
          Buffer.from(`\uFEFF${xml("UTF-16")}`, "utf16le"),
          Buffer.from(`\uFEFF${xml("UTF-16")}`, "utf16le").swap16(),
          Buffer.from(xml("ISO-8859-1"), "latin1"),
          Buffer.from(`\uFEFF${xml("utf-8")}`)
        ]
      ) {
        expect(yield* read(workbook({ sheets: [{ xml: bytes }] }))).toEqual([good(2, "Müsli", 1)])
      }
      expect(yield* refusal(workbook({ sheets: [{ xml: Buffer.from(xml("UTF-8"), "latin1") }] }))).toContain("no characters in utf-8")
      expect(yield* refusal(workbook({ sheets: [{ xml: xml("KLINGON-1") }] }))).toContain(
        "in the encoding KLINGON-1, which is not supported"
      )
    }))

  it.effect("are not read if there are none", () =>
    Effect.gen(function*() {
      expect(yield* refusal(sheet([header]))).toContain(
        "it has a header and no rows, which is more likely a broken export than an empty shop"
      )
      expect(yield* refusal(sheet([]))).toBe("stock.xlsx, sheet \"Stock\": the sheet is empty; no row of it was used")
    }))

  it.effect("of orders keep the digits and zeros of tracking numbers", () =>
    Effect.map(
      all(Format.rows("xlsx", Orders.schema, { source: "orders.xlsx" })(inChunks(
        sheet([["orderId", "carrier", "trackingNumber"], [9007, "Post", styled(1, 340434161094)], [9008, 5, "00340434"]], {
          formats: ["000000000000000"]
        }),
        100
      ))),
      (rows) =>
        expect(rows).toMatchObject([
          { orderId: "9007", carrier: "Post", trackingNumber: "000340434161094" },
          { orderId: "9008", carrier: "5", trackingNumber: "00340434" }
        ])
    ))
})

describe("the sheet of a workbook", () => {
  const stock = (name: string, id: string, more: Partial<Workbooks.SheetOptions> = {}) => ({ name, rows: [header, [id, 1]], ...more })
  const idsOf = (content: Uint8Array, sheet?: string) => Effect.map(read(content, { sheet }), (rows) => rows.map((row) => row.productId))

  it.effect("is the only visible one with content", () =>
    Effect.gen(function*() {
      expect(yield* idsOf(workbook({ sheets: [stock("Old", "O", { state: "hidden" }), stock("New", "N"), { name: "Sheet3" }] }))).toEqual([
        "N"
      ])
      expect(yield* idsOf(workbook({ sheets: [stock("Old", "O", { state: "veryHidden" }), stock("New", "N")] }))).toEqual(["N"])
    }))

  it.effect("is named if there are several", () =>
    Effect.gen(function*() {
      const several = workbook({
        sheets: [stock("Hidden", "H", { state: "hidden" }), stock("2", "A"), stock("März", "B"), { name: "Empty" }]
      })
      expect(yield* refusal(several)).toBe(
        "stock.xlsx: it has 2 sheets with content (\"2\", \"März\"): name the one to read with --sheet; no row of it was used"
      )
      expect(yield* idsOf(several, "märz ")).toEqual(["B"])
      expect(yield* idsOf(several, "1")).toEqual(["A"])
      // A name comes before a number.
      expect(yield* idsOf(several, "2")).toEqual(["A"])
      expect(yield* idsOf(several, "Hidden")).toEqual(["H"])
      expect(yield* refusal(several, { sheet: "4" })).toBe(
        "stock.xlsx: there is no sheet \"4\"; the sheets are \"2\", \"März\", \"Empty\". Correct --sheet; no row of it was used"
      )
    }))

  it.effect("is not one of hidden ones, and not a chart", () =>
    Effect.gen(function*() {
      expect(yield* refusal(workbook({ sheets: [stock("A", "A", { state: "hidden" })] }))).toContain(
        "all of its sheets are hidden (\"A\"): name the one"
      )
      expect(
        yield* refusal(
          workbook({ parts: { "xl/_rels/workbook.xml.rels": Workbooks.relations([["rId1", "chartsheet", "chartsheets/sheet1.xml"]]) } })
        )
      ).toContain("the workbook has no sheet with cells")
    }))
})

describe("a file", () => {
  const content = sheet([header, ["A", 1]])

  it.effect("is a workbook by its content, whatever its name says", () =>
    Effect.gen(function*() {
      for (const format of Format.all) expect(yield* read(content, {}, format)).toEqual([good(2, "A", 1)])
      expect(yield* read("productId,stock\nA,1\n")).toEqual([good(2, "A", 1)])
      expect(Format.ofName("Stock.XLSX")).toBe("xlsx")
      expect(Format.ofContentType("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")).toBe("xlsx")
    }))

  for (
    const [name, bytes, reason] of [
      ["in the old format or with a password", Buffer.from("d0cf11e0a1b11ae1", "hex"), "(.xls) or one with a password"],
      [
        "of LibreOffice",
        zip({ mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<a/>" }),
        "an OpenDocument file (.ods)"
      ],
      ["of Numbers", zip({ "Index/Document.iwa": "x" }), "a Numbers document"],
      [
        "in the binary format",
        zip({ "_rels/.rels": Workbooks.relations([["r", "officeDocument", "xl/workbook.bin"]]), "xl/workbook.bin": "x" }),
        "(.xlsb)"
      ],
      [
        "of Word",
        zip({ "_rels/.rels": Workbooks.relations([["r", "officeDocument", "word/document.xml"]]), "word/document.xml": "<document/>" }),
        "no Excel workbook"
      ],
      ["with other files", zip({ "stock.csv": "productId,stock\n" }), "unpack the archive"],
      ["without files", zip({}), "unpack the archive"],
      ["as a page of the web", "<html xmlns:x=\"urn:schemas-microsoft-com:office:excel\"><table>", "save it as an Excel workbook (.xlsx)"]
    ] as const
  ) {
    it.effect(`${name} is refused with a way out`, () => Effect.map(refusal(bytes), (message) => expect(message).toContain(reason)))
  }

  it.effect("with encrypted parts is refused", () =>
    Effect.gen(function*() {
      const encrypted = Buffer.from(content)
      for (let at = encrypted.indexOf("PK\x01\x02"); at !== -1; at = encrypted.indexOf("PK\x01\x02", at + 1)) encrypted.writeUInt16LE(1,
          at + 8)
      expect(yield* refusal(encrypted)).toContain("the workbook is protected by a password: save it without the password")
    }))

  it.effect("that is cut anywhere is refused", () =>
    Effect.gen(function*() {
      for (let length = 0; length < content.length; length++) {
        const result = yield* Effect.result(read(content.subarray(0, length)))
        expect(Result.isFailure(result), `${length} bytes`).toBe(true)
      }
      expect(yield* refusal(content.subarray(0, -30))).toContain(
        "it is an Excel workbook or another zip archive, and not complete: export or transfer it again"
      )
    }))

  it.effect("with a wrong byte anywhere gives its rows or is refused", () =>
    Effect.gen(function*() {
      const stored = sheet([header, ["A", 1], ["B", 234]], { level: 0 })
      const rows = [good(2, "A", 1), good(3, "B", 234)]
      for (let at = 0; at < stored.length; at++) {
        const damaged = Buffer.from(stored)
        damaged[at] = (damaged[at] ?? 0) ^ 0x11
        const result = yield* Effect.result(read(damaged))
        if (Result.isSuccess(result)) expect(result.success, `byte ${at}`).toEqual(rows)
      }
    }))

  it.effect("with a sheet that is damaged is refused", () =>
    Effect.gen(function*() {
      const withXml = (xml: string) => refusal(workbook({ sheets: [{ name: "Stock", xml: `<worksheet><sheetData>${xml}` }] }))
      const end = "</sheetData></worksheet>"
      expect(yield* withXml(`<row r="1"><c r="A1"><v>1`)).toContain("is no valid XML")
      expect(yield* withXml(`<row r="2"/><row r="2"/>${end}`)).toContain("the row 2 follows the row 2, so the sheet is damaged")
      expect(yield* withXml(`<row r="1"><c r="B1"/><c r="A1"/></row>${end}`)).toContain("row 1: the cell A1 is not in the order of its row")
      expect(yield* withXml(`<row r="1"><c r="ZZZZ1"/></row>${end}`)).toContain("the cell ZZZZ1 is not in the order")
      expect(yield* withXml(`<row r="1"><c r="A1" t="s"><v>9</v></c></row>${end}`)).toContain("a text that the workbook does not have")
      expect(yield* withXml(`<row r="1"><c r="A1"><v>&xxe;</v></c></row>${end}`)).toContain("is no valid XML")
      expect(yield* refusal(workbook({ sheets: [{ xml: `<!DOCTYPE a [<!ENTITY x "y">]><worksheet/>` }] }))).toContain("has a document type")
      expect(yield* refusal(workbook({ parts: { "xl/worksheets/sheet1.xml": null } }))).toContain(
        "its part /xl/worksheets/sheet1.xml is missing"
      )
    }))

  it.effect("that decompresses to far more than a sheet has is refused", () =>
    Effect.gen(function*() {
      expect(yield* refusal(workbook({ sheets: [{ xml: Buffer.alloc(70 * 1_048_576, 0x20) }] }))).toContain("decompresses to 70 MiB")
      expect(yield* refusal(workbook({ sheets: [{ xml: `<worksheet>${" ".repeat(9 * 1_048_576)}</worksheet>` }] }))).toContain(
        "more than 4 MiB"
      )
    }))
})

// Characters that CSV and XML can both hold.
const text = Arbitrary.map(
  Generate.arrayOf(Generate.elementOf("AB09-+.,;'\"&<>_x= /äß漢".split("")), { minLength: 1, maxLength: 10 }),
  (characters) => characters.join("")
)

it.effect.prop("the rows of a workbook are those of the same rows in CSV", [
  Generate.arrayOf(
    Arbitrary.all([
      Generate.oneOf<string | number>(text, Generate.between(0, 999_999_999_999_999)),
      Generate.oneOf<string | number>(text, Generate.between(-5, 1_000_000))
    ]),
    {
      minLength: 1,
      maxLength: 8
    }
  ),
  Generate.elementOf(["shared", "inline"] as const),
  Generate.boolean
], ([rows, texts, isFirst]) =>
  Effect.gen(function*() {
    const table = [header, ...rows].map((cells) => isFirst ? ["note", ...cells] : [...cells, "note"])
    const csv = table.map((cells) => `${cells.map((each) => `"${String(each).replaceAll("\"", "\"\"")}"`).join(",")}\n`).join("")
    const outcome = (content: string | Uint8Array, format: Format.Format) =>
      Effect.map(Effect.result(read(content, { acceptPartial: { names: ["error-text"], option: (name) => name } }, format)), (result) =>
        Result.isSuccess(result)
          ? result.success.map((row) => row._tag === "Valid" ? row : { ...row, reason: row.reason.replaceAll("\"", "") })
          : "refused")
    expect(yield* outcome(sheet(table, { texts }), "xlsx")).toEqual(yield* outcome(csv, "csv"))
  }), { arbitrary: { runs: 200 } })
