/**
 * Exports of shops, spreadsheets and inventory systems, and the rows of each. `docs/feeds.md` is generated from them.
 */
import type * as Numerals from "@plaza/tabular/Numerals"
import type * as Stock from "@plaza/tabular/Stock"
import type { Negative } from "@plaza/tabular/Stock"
import { cell, declaration, main, relations, sheet, styled, workbook, zip } from "@plaza/testing/Workbooks"
import { gzipSync } from "node:zlib"

export interface Feed {
  readonly name: string
  /** The extension selects the format. */
  readonly file: string
  readonly content: string | Uint8Array
  /** A description of content that is not text. */
  readonly shown?: string
  readonly idColumn?: string
  readonly stockColumn?: Stock.Columns["stockColumn"]
  readonly separators?: Numerals.Separators
  readonly items?: string
  readonly format?: "csv" | "json" | "ndjson"
  readonly sheet?: string
  readonly delimiter?: string
  readonly charset?: string
  readonly negative?: Negative
  /** Whether the test follows next_cursor. */
  readonly pages?: true
  /** Ids and stock, in order; `true` marks a number below zero. */
  readonly taken?: ReadonlyArray<readonly [id: string, stock: number, negative?: true]>
  readonly rejected?: ReadonlyArray<readonly [line: number, reason: string]>
  /** The reason of the failure, without the name of the source. */
  readonly refused?: string
  readonly nextCursor?: string
  /** A note on the page. */
  readonly note?: string
}

const lines = (...texts: ReadonlyArray<string>): string => texts.map((text) => `${text}\n`).join("")
const crlf = (...texts: ReadonlyArray<string>): string => texts.map((text) => `${text}\r\n`).join("")
const json = (value: unknown): string => JSON.stringify(value)
const utf16le = (text: string): Uint8Array => Buffer.from(`\uFEFF${text}`, "utf16le")
const utf16be = (text: string): Uint8Array => Buffer.from(`\uFEFF${text}`, "utf16le").swap16()
const simple = lines("productId,stock", "SOCK-1,12", "SOCK-2,0")
const two = [["SOCK-1", 12], ["SOCK-2", 0]] as const
const excelColumns = { idColumn: "Artikelnummer", stockColumn: "Bestand" }

/** The sections of the page, in order. */
export const sections: ReadonlyArray<readonly [title: string, feeds: ReadonlyArray<Feed>]> = [
  ["Shops and marketplaces", [
    {
      name: "Shopify, inventory export (CSV)",
      file: "inventory_export.csv",
      content: lines(
        "Handle,Title,Option1 Name,Option1 Value,SKU,HS Code,COO,Location,Incoming,Unavailable,Committed,Available (not editable),On hand (current),On hand (new)",
        "wool-sock,\"Wool sock, warm\",Size,M,SOCK-M,,,Warehouse,0,0,2,10,12,",
        "wool-sock,\"Wool sock, warm\",Size,L,SOCK-L,,,Warehouse,0,0,0,not stocked,not stocked,"
      ),
      idColumn: "SKU",
      stockColumn: "Available (not editable)",
      taken: [["SOCK-M", 10]],
      rejected: [[3, "Available (not editable) \"not stocked\" is not a number"]],
      note: "One row for each location: export one location, because a product on two lines is rejected."
    },
    {
      name: "Shopify, product export (CSV)",
      file: "products_export.csv",
      content: lines(
        "Handle,Title,Body (HTML),Variant SKU,Variant Inventory Qty,Variant Price,Image Src",
        "wool-sock,Wool sock,\"<p>Warm,\nsoft</p>\",'0042,7,9.90,https://shop.test/1.jpg",
        "wool-sock,,,,,,https://shop.test/2.jpg"
      ),
      idColumn: "Variant SKU",
      stockColumn: "Variant Inventory Qty",
      taken: [["0042", 7]],
      rejected: [[4, "Variant SKU is empty"]],
      note: "Rows of further pictures have no SKU and are rejected. The inventory export has no such rows."
    },
    {
      name: "Shopify, products of the Admin API (JSON)",
      file: "products.json",
      content: json({
        products: [{ id: 1, variants: [{ sku: "SOCK-M", inventory_quantity: 4 }, { sku: "SOCK-L", inventory_quantity: 0 }] }, {
          id: 2,
          variants: [{ sku: "CAP", inventory_quantity: -1 }]
        }]
      }),
      items: "products.variants",
      idColumn: "sku",
      stockColumn: "inventory_quantity",
      negative: "zero",
      taken: [["SOCK-M", 4], ["SOCK-L", 0], ["CAP", 0, true]]
    },
    {
      name: "Shopify, the same without --items",
      file: "products.json",
      content: json({ products: [{ id: 1, variants: [{ sku: "SOCK-M", inventory_quantity: 4 }] }] }),
      idColumn: "sku",
      stockColumn: "inventory_quantity",
      refused:
        "there is no item in it (expected in the document itself or its data; it has the array \"products\"; select another path with --items), which is more likely a broken export than an empty shop"
    },
    {
      name: "WooCommerce, product export (CSV)",
      file: "wc-product-export.csv",
      content: `\uFEFF${
        lines("ID,Type,SKU,Name,Published,\"In stock?\",Stock,\"Regular price\"", "10,simple,SOCK-M,\"Sock, wool\",1,1,5,9.90",
          "11,variable,SOCK,Sock,1,1,,", "12,simple,CAP,Cap,1,0,-2,12")
      }`,
      idColumn: "SKU",
      stockColumn: "Stock",
      negative: "zero",
      taken: [["SOCK-M", 5], ["CAP", 0, true]],
      rejected: [[3, "Stock is empty, which does not count as zero"]],
      note: "Variable products have no stock of their own and are rejected."
    },
    {
      name: "WooCommerce, products of the REST API (JSON)",
      file: "wc-products.json",
      content: json([{ id: 10, sku: "SOCK-M", manage_stock: true, stock_quantity: 5 }, {
        id: 11,
        sku: "CAP",
        manage_stock: false,
        stock_quantity: null
      }]),
      idColumn: "sku",
      stockColumn: "stock_quantity",
      taken: [["SOCK-M", 5]],
      rejected: [[2, "stock_quantity is null, which does not count as zero"]]
    },
    {
      name: "Lightspeed Retail, item export",
      file: "item_listings.csv",
      content: lines(
        "\"System ID\",\"UPC\",\"EAN\",\"Custom SKU\",\"Manufact. SKU\",\"Item\",\"Qty.\",\"Price\"",
        "\"210000000001\",\"\",\"\",\"SOCK-M\",\"\",\"Sock 3\"\" wide\",\"12\",\"$9.90\""
      ),
      idColumn: "System ID",
      stockColumn: "Qty.",
      taken: [["210000000001", 12]]
    },
    {
      name: "Magento, export of stock sources",
      file: "stock_sources.csv",
      content: lines("source_code,sku,status,quantity", "default,24-MB01,1,100.0000", "default,24-MB04,0,0.0000",
        "default,24-MB03,1,-3.0000"),
      idColumn: "sku",
      stockColumn: "quantity",
      negative: "zero",
      taken: [["24-MB01", 100], ["24-MB04", 0], ["24-MB03", 0, true]]
    },
    {
      name: "PrestaShop, product list (semicolons)",
      file: "product.csv",
      content: lines("\"Product ID\";Image;Name;Reference;Category;\"Price (tax excl.)\";Quantity;Status",
        "1;https://shop.test/1.jpg;\"Hummingbird; printed\";demo_1;Men;23,90;2400;1"),
      idColumn: "Reference",
      stockColumn: "Quantity",
      taken: [["demo_1", 2400]]
    },
    {
      name: "Square, item library",
      file: "catalog.csv",
      content: lines("Token,Item Name,Variation Name,SKU,Current Quantity Main Street,New Quantity Main Street",
        "ABC123,Sock,Regular,SOCK-1,15,", "ABC124,Cap,Regular,CAP-1,,"),
      idColumn: "SKU",
      stockColumn: "Current Quantity Main Street",
      taken: [["SOCK-1", 15]],
      rejected: [[3, "Current Quantity Main Street is empty, which does not count as zero"]]
    },
    {
      name: "Amazon, flat file of inventory (tabs)",
      file: "inventory-report.txt",
      content: lines("sku\tasin\tprice\tquantity", "SOCK-M\tB000000001\t9.90\t12", "SOCK-L\tB000000002\t9.90\t"),
      idColumn: "sku",
      stockColumn: "quantity",
      taken: [["SOCK-M", 12]],
      rejected: [[3, "quantity is empty, which does not count as zero"]]
    },
    {
      name: "Amazon, template with a line above the header",
      file: "template.txt",
      content: lines("TemplateType=Inventory\tVersion=1.4", "sku\tquantity", "SOCK-M\t12"),
      idColumn: "sku",
      stockColumn: "quantity",
      refused:
        "there is no column \"sku\"; the columns are \"TemplateType=Inventory\", \"Version=1.4\". Add it, or select another column with --id-column"
    },
    {
      name: "eBay, active listings",
      file: "ebay-active-listings.csv",
      content: `\uFEFF${
        crlf("\"Item number\",\"Title\",\"Custom label (SKU)\",\"Available quantity\"", "\"110553000001\",\"Sock\",\"SOCK-M\",\"3\"")
      }`,
      idColumn: "Custom label (SKU)",
      stockColumn: "Available quantity",
      taken: [["SOCK-M", 3]]
    },
    {
      name: "Etsy, listings with all variations in one row",
      file: "listings.csv",
      content: lines("TITLE,QUANTITY,SKU", "Sock,\"4,7,0\",\"SOCK-M,SOCK-L,SOCK-S\""),
      idColumn: "SKU",
      stockColumn: "QUANTITY",
      rejected: [[2, "QUANTITY \"4,7,0\" has separators that fit no number: write it without them"]],
      note: "Each variation needs a row of its own."
    }
  ]],
  ["Inventory and accounting systems", [
    {
      name: "SAP, list with bars and the minus after the number",
      file: "mb52.txt",
      content: crlf("Material|Plant|Unrestricted", "000000000000100042|1000|        25 ", "000000000000100043|1000|         3-",
        "000000000000100044|1000|     1.250 "),
      idColumn: "Material",
      stockColumn: "Unrestricted",
      negative: "zero",
      taken: [["000000000000100042", 25], ["000000000000100043", 0, true], ["000000000000100044", 1250]],
      note: "1.25 would be no stock, so 1.250 has one reading. A 2.5 in the same file would refuse it."
    },
    {
      name: "SAP, the same with negative stocks rejected",
      file: "mb52.txt",
      content: crlf("Material|Unrestricted", "100042|25", "100043|3-"),
      idColumn: "Material",
      stockColumn: "Unrestricted",
      negative: "reject",
      taken: [["100042", 25]],
      rejected: [[3, "Unrestricted \"3-\" is negative"]]
    },
    {
      name: "SAP, list with a bar on both edges",
      file: "spool.txt",
      content: lines("|Material|Stock|", "|100042|25|", "|100043|0|"),
      idColumn: "Material",
      stockColumn: "Stock",
      taken: [["100042", 25], ["100043", 0]]
    },
    {
      name: "Odoo, product export",
      file: "product.product.csv",
      content: lines("\"id\",\"default_code\",\"name\",\"qty_available\"", "\"__export__.product_1\",\"SOCK-M\",\"Sock\",\"12.0\"",
        "\"__export__.product_2\",\"SOCK-L\",\"Sock\",\"-1.0\"", "\"__export__.product_3\",\"ROPE\",\"Rope\",\"2.5\""),
      idColumn: "default_code",
      stockColumn: "qty_available",
      negative: "zero",
      taken: [["SOCK-M", 12], ["SOCK-L", 0, true]],
      rejected: [[4, "qty_available \"2.5\" is not a whole number"]]
    },
    {
      name: "Sage, stock list with accounting brackets",
      file: "stock.csv",
      content: crlf("Product Code,Description,Qty In Stock", "SOCK-M,Sock,12", "SOCK-L,Sock,(5)", "CAP,Cap,\"1,200\""),
      idColumn: "Product Code",
      stockColumn: "Qty In Stock",
      negative: "zero",
      taken: [["SOCK-M", 12], ["SOCK-L", 0, true], ["CAP", 1200]]
    },
    {
      name: "Navision, UTF-16 with tabs",
      file: "items.txt",
      content: utf16le(crlf("No.\tDescription\tInventory", "70000\tSeitenteil für Tür\t42", "ŁÓDŹ-1\tŁódź\t0")),
      shown: "UTF-16 LE with byte order mark",
      idColumn: "No.",
      stockColumn: "Inventory",
      taken: [["70000", 42], ["ŁÓDŹ-1", 0]]
    },
    {
      name: "Lexware and others, UTF-16 BE",
      file: "lager.csv",
      content: utf16be(crlf("Artikelnummer;Bestand", "A-1;3")),
      shown: "UTF-16 BE with byte order mark",
      ...excelColumns,
      taken: [["A-1", 3]]
    },
    {
      name: "UTF-16 without a byte order mark",
      file: "lager.csv",
      content: Buffer.from(crlf("productId;stock", "A-1;3"), "utf16le"),
      shown: "UTF-16 LE without byte order mark",
      taken: [["A-1", 3]]
    },
    {
      name: "DOS program, with its mark for the end of the file",
      file: "stock.csv",
      content: `${crlf("productId,stock", "A-1,3")}\u001A`,
      taken: [["A-1", 3]]
    },
    {
      name: "pandas, ids that became floating-point numbers",
      file: "stock.csv",
      content: lines("productId,stock", "1001.0,5.0"),
      taken: [["1001.0", 5]],
      note: "An id is used unchanged, so the service does not know \"1001.0\": export it as text."
    }
  ]],
  ["Spreadsheets", [
    {
      name: "Excel, German settings",
      file: "Bestand.csv",
      content: `\uFEFF${crlf("Artikelnummer;Bezeichnung;Bestand;Preis", "A-1;Socke;12;9,90", "A-2;Mütze;0;12,00", "A-3;Schal;1.234;5,00")}`,
      ...excelColumns,
      taken: [["A-1", 12], ["A-2", 0], ["A-3", 1234]]
    },
    {
      name: "Excel, with a line sep=;",
      file: "Bestand.csv",
      content: crlf("", "sep=;", "Artikelnummer;Bestand;\"a, b, c, d\"", "A-1;12;x", "A-2;;x"),
      ...excelColumns,
      taken: [["A-1", 12]],
      rejected: [[5, "Bestand is empty, which does not count as zero"]]
    },
    {
      name: "Excel, with a quoted line \"sep=,\" and a byte order mark",
      file: "Bestand.csv",
      content: `\uFEFF${lines("\"sep=,\"", "productId,stock", "A-1,12", "A-2,x")}`,
      taken: [["A-1", 12]],
      rejected: [[4, "stock \"x\" is not a number"]]
    },
    {
      name: "Excel formulas that keep zeros, without quotes around them",
      file: "stock.csv",
      content: lines("productId,stock,name", "=\"007\",=\"12\",Sock", "=\"A,B\",3,\"=\"\"x\"\"\""),
      taken: [["007", 12], ["A,B", 3]]
    },
    {
      name: "Excel formulas that keep zeros, in quotes",
      file: "stock.csv",
      content: lines("\"productId\";\"stock\"", "\"=\"\"007\"\"\";\"=\"\"12\"\"\""),
      taken: [["007", 12]]
    },
    {
      name: "Text that only looks like a formula",
      file: "stock.csv",
      content: lines("productId,stock", "\"A,=\"\"B\",1", "=C,2", "\"D,=\",3"),
      taken: [["A,=\"B", 1], ["=C", 2], ["D,=", 3]]
    },
    {
      name: "Apostrophes that mark a text",
      file: "stock.csv",
      content: lines("productId,stock", "'007,'12", "'quoted',1", "',2"),
      taken: [["007", 12], ["'quoted'", 1], ["'", 2]]
    },
    {
      name: "Excel, long ids rounded",
      file: "stock.csv",
      content: lines("productId,stock", "4.00638E+12,5", "\"4,00638E+12\",5", "5E12,1"),
      taken: [["5E12", 1]],
      rejected: [
        [2, "productId \"4.00638E+12\" is a number that a spreadsheet has rounded: write it out as a text"],
        [3, "productId \"4,00638E+12\" is a number that a spreadsheet has rounded: write it out as a text"]
      ]
    },
    {
      name: "Excel, cells with errors",
      file: "stock.csv",
      content: lines("productId,stock", "A-1,#N/A", "A-2,#REF!", "A-3,1"),
      taken: [["A-3", 1]],
      rejected: [[2, "stock \"#N/A\" is an error of the spreadsheet, not a number"], [
        3,
        "stock \"#REF!\" is an error of the spreadsheet, not a number"
      ]]
    },
    {
      name: "Excel, empty rows below the table",
      file: "stock.csv",
      content: crlf("productId;stock;note", "A-1;1;", ";;", ";;"),
      taken: [["A-1", 1]]
    },
    {
      name: "Excel, saved as Unicode text",
      file: "stock.txt",
      content: utf16le(crlf("productId\tstock", "A-1\t1")),
      shown: "UTF-16 LE with byte order mark",
      taken: [["A-1", 1]]
    },
    {
      name: "Excel, saved in the old encoding of Windows",
      file: "stock.csv",
      content: Buffer.from(crlf("productId;stock;name", "A-1;1;Mütze", "MÜTZE;2;x"), "latin1"),
      shown: "Windows-1252",
      taken: [["A-1", 1]],
      rejected: [
        [
          3,
          "productId \"M\uFFFDTZE\" is not UTF-8: save the file as CSV UTF-8, or name its charset with --charset, such as windows-1252 or shift_jis"
        ]
      ],
      note: "Other columns may hold any bytes. The first such row says what to do."
    },
    {
      name: "The same with its charset",
      file: "stock.csv",
      content: Buffer.from(crlf("productId;stock;name", "A-1;1;Mütze", "MÜTZE;2;x"), "latin1"),
      shown: "Windows-1252",
      charset: "windows-1252",
      taken: [["A-1", 1], ["MÜTZE", 2]]
    },
    {
      name: "Excel, saved in the old encoding of Windows, with its columns in German",
      file: "stock.csv",
      content: Buffer.from(crlf("Artikelnummer;Verfügbar", "A-1;1"), "latin1"),
      shown: "Windows-1252",
      idColumn: "Artikelnummer",
      stockColumn: "Verfügbar",
      refused:
        "its header is not UTF-8 (\"Verf\uFFFDgbar\"), and there is no column \"Verfügbar\" in it: save the file as CSV UTF-8, or name " +
        "its charset with --charset, such as windows-1252 or shift_jis"
    },
    {
      name: "Excel, saved in Japanese Windows, with its charset",
      file: "stock.csv",
      // 商品,在庫 and セーター in Shift JIS.
      content: Buffer.concat([
        Buffer.from([0x8f, 0xa4, 0x95, 0x69]),
        Buffer.from(","),
        Buffer.from([0x8d, 0xdd, 0x8c, 0xc9]),
        Buffer.from("\r\n"),
        Buffer.from([0x83, 0x5a, 0x81, 0x5b, 0x83, 0x5e, 0x81, 0x5b]),
        Buffer.from(",5\r\n")
      ]),
      shown: "Shift JIS",
      idColumn: "商品",
      stockColumn: "在庫",
      charset: "shift_jis",
      taken: [["セーター", 5]]
    },
    {
      name: "Google Sheets",
      file: "Inventory - Sheet1.csv",
      content: "SKU,Qty,Notes\r\nSOCK-M,12,\"two\nlines\"\r\nSOCK-L,0,",
      idColumn: "SKU",
      stockColumn: "Qty",
      taken: [["SOCK-M", 12], ["SOCK-L", 0]]
    },
    {
      name: "LibreOffice, all cells in quotes",
      file: "stock.csv",
      content: lines("\"productId\",\"stock\"", "\"007\",\"12\""),
      taken: [["007", 12]]
    },
    {
      name: "Apple Numbers, title above the table",
      file: "stock.csv",
      content: lines("Inventory May", "productId,stock", "A-1,1"),
      refused:
        "there is no column \"productId\"; the columns are \"Inventory May\". Add it, or select another column with --id-column. Delete any lines above the header, such as a title"
    },
    {
      name: "Table of HTML with the ending .xls",
      file: "stock.csv",
      content: "<html xmlns:x=\"urn:schemas-microsoft-com:office:excel\"><body><table><tr><td>productId</td></tr></table></body></html>",
      refused: "it is a table in HTML or XML for Excel: open it in Excel and save it as an Excel workbook (.xlsx) or as CSV UTF-8"
    }
  ]],
  ["Excel workbooks", [
    {
      name: "Excel, ids with leading zeros",
      file: "Bestand.xlsx",
      content: sheet([["Artikelnummer", "Bestand"], [styled(1, 42), 12], ["007", 5], [12345678901234, 1]], { formats: ["00000"] }),
      shown: "42 in the format `00000`, the text `007`, and 12345678901234, which Excel shows as 1.23457E+13",
      ...excelColumns,
      taken: [["00042", 12], ["007", 5], ["12345678901234", 1]]
    },
    {
      name: "Excel, ids that it has changed",
      file: "stock.xlsx",
      content: sheet([["productId", "stock"], [styled(1, 46082), 1], [1.1, 1], [cell("<c r=\"@\"><v>1234567890123450</v></c>"), 1], [
        "SOCK-1",
        12
      ]], {
        formats: [14]
      }),
      shown: "an id that became a date, `1.10` that became 1.1, an id of 16 digits",
      taken: [["SOCK-1", 12]],
      rejected: [
        [2, "productId is formatted as a date or a time, so what was entered is lost: format the column as text, and enter it again"],
        [3, "productId 1.1 is a number with a fraction: format the column as text, and enter it again"],
        [
          4,
          "productId 1234567890123450 is a number with more than 15 digits, of which Excel keeps 15: format the column as text, and enter it again"
        ]
      ]
    },
    {
      name: "Excel, stock with formats, and after arithmetic",
      file: "stock.xlsx",
      content: sheet([
        ["productId", "stock"],
        ["SOCK-1", styled(1, 1234)],
        ["SOCK-2", styled(2, 8)],
        ["SOCK-3", cell("<c r=\"@\"><f>0.1*50</f><v>5.0000000001</v></c>")],
        ["SOCK-4", styled(3, 0.5)],
        ["SOCK-5", styled(4, 4.6)]
      ], { formats: ["#,##0", "\"€\" #,##0.00", "0%", "0"] }),
      shown: "1,234, € 8.00, a formula with the value 5.0000000001, 50%, and 4.6 in the format `0`",
      taken: [["SOCK-1", 1234], ["SOCK-2", 8], ["SOCK-3", 5]],
      rejected: [[5, "stock 0.5 is not a whole number"], [6, "stock 4.6 is not a whole number"]],
      note: "The value counts, not its format. Of a fraction, the digits that the format General shows count."
    },
    {
      name: "Excel, formulas and their errors",
      file: "stock.xlsx",
      content: sheet([
        ["productId", "stock"],
        ["SOCK-1", cell("<c r=\"@\"><f>C2-D2</f><v>12</v></c>")],
        ["SOCK-2", cell("<c r=\"@\" t=\"e\"><f>VLOOKUP(A3,E:F,2,0)</f><v>#N/A</v></c>")],
        ["SOCK-3", true],
        [cell("<c r=\"@\" t=\"e\"><f>A99</f><v>#REF!</v></c>"), 4]
      ]),
      shown: "formulas with the results 12, #N/A and #REF!, and TRUE",
      taken: [["SOCK-1", 12]],
      rejected: [
        [3, "stock is #N/A, an error of the spreadsheet: correct the formula"],
        [4, "stock is true, not a number"],
        [5, "productId is #REF!, an error of the spreadsheet: correct the formula"]
      ]
    },
    {
      name: "Excel, title above the table",
      file: "stock.xlsx",
      content: sheet([["Stock of May"], [], ["productId", "stock"], ["SOCK-1", 12]]),
      shown: "a title in the first row",
      refused:
        "there is no column \"productId\"; the columns are \"Stock of May\". Add it, or select another column with --id-column. Delete any lines above the header, such as a title"
    },
    {
      name: "Excel, a table in the middle of a sheet, with empty and formatted rows",
      file: "stock.xlsx",
      content: sheet([
        [],
        [null, cell("<c r=\"@\" s=\"0\"/>")],
        [null, "stock", "productId"],
        [null, 12, "SOCK-1"],
        [],
        [null, 0, "SOCK-2"],
        [
          cell("<c r=\"@\" s=\"0\"/>")
        ]
      ]),
      shown: "two empty rows and an empty column before the header",
      taken: two
    },
    {
      name: "Excel, hidden and filtered rows, merged cells",
      file: "stock.xlsx",
      content: workbook({
        sheets: [{
          xml: `<worksheet xmlns="${main}"><sheetData><row r="1"><c t="str"><v>productId</v></c><c t="str"><v>stock</v></c></row>` +
            "<row r=\"2\" hidden=\"1\"><c t=\"str\"><v>SOCK-1</v></c><c><v>12</v></c></row>" +
            "<row r=\"3\"><c t=\"str\"><v>SOCK-2</v></c><c><v>0</v></c></row><row r=\"4\"><c/><c><v>3</v></c></row></sheetData>" +
            "<autoFilter ref=\"A1:B4\"/><mergeCells><mergeCell ref=\"A3:A4\"/></mergeCells></worksheet>"
        }]
      }),
      shown: "row 2 hidden, the cells A3 and A4 merged",
      taken: two,
      rejected: [[4, "productId is empty"]],
      note: "Hidden rows and columns are read, as Excel itself writes them to CSV. Of merged cells, only the first has a value."
    },
    {
      name: "Excel, several sheets",
      file: "stock.xlsx",
      content: workbook({
        sheets: [
          { name: "Stock", rows: [["productId", "stock"], ["SOCK-1", 12]] },
          { name: "Prices", rows: [["productId", "price"]] },
          { name: "Sheet3" }
        ]
      }),
      shown: "the sheets Stock, Prices and an empty one",
      refused: "it has 2 sheets with content (\"Stock\", \"Prices\"): name the one to read with --sheet"
    },
    {
      name: "Excel, one of several sheets",
      file: "stock.xlsx",
      content: workbook({
        sheets: [
          { name: "Notes", rows: [["Ask Ann"]] },
          { name: "Stock", rows: [["productId", "stock"], ["SOCK-1", 12], ["SOCK-2", 0]] }
        ]
      }),
      shown: "the sheets Notes and Stock",
      sheet: "stock",
      taken: two
    },
    {
      name: "Excel, a sheet that is not there",
      file: "stock.xlsx",
      content: workbook({ sheets: [{ name: "Stock", rows: [["productId", "stock"]] }, { name: "Old", state: "hidden" }] }),
      shown: "the sheet Stock, and a hidden one",
      sheet: "Lager",
      refused: "there is no sheet \"Lager\"; the sheets are \"Stock\". Correct --sheet"
    },
    {
      name: "Google Sheets, workbook",
      file: "Inventory.xlsx",
      content: workbook({
        sheets: [{
          name: "Sheet1",
          xml:
            `${declaration}<worksheet xmlns="${main}" xmlns:mx="http://schemas.microsoft.com/office/mac/excel/2008/main"><sheetPr/><sheetViews/>` +
            "<sheetData><row r=\"1\"><c r=\"A1\" s=\"1\" t=\"s\"><v>0</v></c><c r=\"B1\" s=\"1\" t=\"s\"><v>1</v></c></row>" +
            "<row r=\"2\"><c r=\"A2\" s=\"1\" t=\"s\"><v>2</v></c><c r=\"B2\" s=\"1\"><v>12.0</v></c></row>" +
            "<row r=\"3\"><c r=\"A3\" s=\"1\" t=\"s\"><v>3</v></c><c r=\"B3\" s=\"1\"><v>0.0</v></c></row></sheetData><drawing/></worksheet>"
        }],
        shared: ["<t>productId</t>", "<t>stock</t>", "<t>SOCK-1</t>", "<t>SOCK-2</t>"],
        formats: [0]
      }),
      shown: "numbers written as 12.0",
      taken: two
    },
    {
      name: "LibreOffice Calc, workbook",
      file: "stock.xlsx",
      content: workbook({
        sheets: [{
          name: "Tabelle1",
          xml:
            `${declaration}<worksheet xmlns="${main}"><sheetPr filterMode="false"/><dimension ref="A1:B3"/><sheetFormatPr defaultRowHeight="12.8"/>` +
            "<sheetData><row r=\"1\" customFormat=\"false\" ht=\"12.8\"><c r=\"A1\" s=\"0\" t=\"s\"><v>0</v></c><c r=\"B1\" s=\"0\" t=\"s\"><v>1</v></c></row>" +
            "<row r=\"2\"><c r=\"A2\" s=\"0\" t=\"s\"><v>2</v></c><c r=\"B2\" s=\"0\" t=\"n\"><f aca=\"false\">6*2</f><v>12</v></c></row>" +
            "<row r=\"3\"><c r=\"A3\" s=\"0\" t=\"str\"><f aca=\"false\">&quot;SOCK-&quot;&amp;2</f><v>SOCK-2</v></c><c r=\"B3\" s=\"0\" t=\"n\"><v>0</v></c></row>" +
            "</sheetData></worksheet>"
        }],
        shared: ["<t xml:space=\"preserve\">productId</t>", "<t xml:space=\"preserve\">stock</t>", "<t xml:space=\"preserve\">SOCK-1</t>"],
        more: "<calcPr iterateCount=\"100\" refMode=\"A1\" iterate=\"false\" iterateDelta=\"0.001\"/>"
      }),
      shown: "formulas with their results",
      taken: two
    },
    {
      name: "openpyxl, formulas without results",
      file: "stock.xlsx",
      content: sheet([
        ["productId", "stock"],
        ["SOCK-1", cell("<c r=\"@\"><f>10-2</f><v></v></c>")],
        ["SOCK-2", 0]
      ], { texts: "inline", more: "<calcPr calcId=\"124519\" fullCalcOnLoad=\"1\"/>" }),
      shown: "a formula that was never calculated",
      taken: [["SOCK-2", 0]],
      rejected: [[2, "stock is a formula that has not been calculated: open the workbook in Excel and save it"]]
    },
    {
      name: "XlsxWriter, formulas with 0 in place of their results",
      file: "stock.xlsx",
      content: sheet([
        ["productId", "stock"],
        ["SOCK-1", cell("<c r=\"@\"><f>10-2</f><v>0</v></c>")],
        ["SOCK-2", 0]
      ], { more: "<calcPr calcId=\"124519\" fullCalcOnLoad=\"1\"/>" }),
      shown: "a formula with the value 0, to be calculated by Excel",
      taken: [["SOCK-2", 0]],
      rejected: [[2, "stock is a formula that has not been calculated: open the workbook in Excel and save it"]]
    },
    {
      name: "ClosedXML and Open XML SDK, prefixes and absolute paths",
      file: "stock.xlsx",
      content: workbook({
        sheets: [{
          xml:
            `<x:worksheet xmlns:x="${main}"><x:sheetData><x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:t>productId</x:t></x:is></x:c>` +
            "<x:c r=\"B1\" t=\"inlineStr\"><x:is><x:t>stock</x:t></x:is></x:c></x:row><x:row r=\"2\"><x:c r=\"A2\" t=\"str\"><x:v>SOCK-1</x:v></x:c>" +
            "<x:c r=\"B2\" t=\"n\"><x:v>12</x:v></x:c></x:row><x:row r=\"3\"><x:c r=\"A3\" t=\"str\"><x:v>SOCK-2</x:v></x:c><x:c r=\"B3\"><x:v>0</x:v></x:c></x:row>" +
            "</x:sheetData></x:worksheet>"
        }],
        parts: {
          "_rels/.rels": relations([["R1", "officeDocument", "/xl/workbook.xml"]]),
          "xl/workbook.xml":
            `<x:workbook xmlns:x="${main}" xmlns:d="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><x:sheets><x:sheet name="Stock" sheetId="1" d:id="R2"/></x:sheets></x:workbook>`,
          "xl/_rels/workbook.xml.rels": relations([["R2", "worksheet", "/xl/worksheets/sheet1.xml"]]),
          "xl/sharedStrings.xml": null,
          "xl/styles.xml": null
        }
      }),
      shown: "the prefix `x:`, no styles, no shared texts",
      taken: two
    },
    {
      name: "Stream writers, cells without references; strict Open XML",
      file: "stock.xlsx",
      content: workbook({
        sheets: [{
          xml:
            "<worksheet xmlns=\"http://purl.oclc.org/ooxml/spreadsheetml/main\"><sheetData><row><c t=\"inlineStr\"><is><t>productId</t></is></c>" +
            "<c t=\"inlineStr\"><is><t>stock</t></is></c></row><row><c t=\"inlineStr\"><is><r><t>SOCK</t></r><r><t>-1</t></r></is></c><c><v>12</v></c></row>" +
            "<row><c t=\"inlineStr\"><is><t>SOCK-2</t></is></c><c><v>0</v></c></row></sheetData></worksheet>"
        }],
        parts: {
          "xl/_rels/workbook.xml.rels": relations([["rId1", "worksheet", "worksheets/sheet1.xml"]],
            "http://purl.oclc.org/ooxml/officeDocument/relationships")
        }
      }),
      shown: "rows and cells without `r`",
      taken: two
    },
    {
      name: "Workbook with the name of a CSV file",
      file: "stock.csv",
      content: sheet([["productId", "stock"], ["SOCK-1", 12], ["SOCK-2", 0]]),
      shown: "a workbook",
      taken: two
    },
    { name: "CSV with the name of a workbook", file: "stock.xlsx", content: simple, taken: two },
    {
      name: "Workbook, not complete",
      file: "stock.xlsx",
      content: sheet([["productId", "stock"], ["SOCK-1", 12]]).subarray(0, -40),
      shown: "the beginning of a workbook",
      refused: "it is an Excel workbook or another zip archive, and not complete: export or transfer it again"
    },
    {
      name: "Excel workbook in the old format (.xls), or with a password",
      file: "stock.xls",
      content: Buffer.from("d0cf11e0a1b11ae1000000000000", "hex"),
      shown: "D0 CF 11 E0",
      refused:
        "it is an Excel workbook in the old format (.xls) or one with a password: save it as .xlsx without a password, or as CSV UTF-8"
    },
    {
      name: "Excel workbook in the binary format (.xlsb)",
      file: "stock.xlsb",
      content: zip({ "_rels/.rels": relations([["rId1", "officeDocument", "xl/workbook.bin"]]), "xl/workbook.bin": "0" }),
      shown: "a zip archive with xl/workbook.bin",
      refused: "it is an Excel workbook in the binary format (.xlsb): save it as an Excel workbook (.xlsx) or as CSV UTF-8"
    },
    {
      name: "LibreOffice Calc (.ods)",
      file: "stock.ods",
      content: zip({ mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<office:document-content/>" }),
      shown: "a zip archive with content.xml",
      refused: "it is an OpenDocument file (.ods): save it as an Excel workbook (.xlsx) or as CSV UTF-8"
    },
    {
      name: "Apple Numbers",
      file: "stock.numbers",
      content: zip({ "Index/Document.iwa": "0" }),
      shown: "a zip archive with Index/Document.iwa",
      refused: "it is a Numbers document: export it as an Excel workbook (.xlsx) or as CSV UTF-8"
    }
  ]],
  ["Forms of CSV", [
    { name: "Line ends of Windows", file: "stock.csv", content: crlf("productId,stock", "SOCK-1,12", "SOCK-2,0"), taken: two },
    { name: "Line ends of old Macs", file: "stock.csv", content: "productId,stock\rSOCK-1,12\rSOCK-2,0\r", taken: two },
    { name: "Byte order mark of UTF-8", file: "stock.csv", content: `\uFEFF${simple}`, taken: two },
    {
      name: "Names of columns in other case, with white space around them",
      file: "stock.csv",
      content: lines(" ProductID ,\u00A0STOCK", "SOCK-1,12", "SOCK-2,0"),
      taken: two
    },
    {
      name: "Names of columns in brackets",
      file: "stock.csv",
      content: lines("[SKU],[On Hand]", "SOCK-1,12", "SOCK-2,0"),
      idColumn: "[SKU]",
      stockColumn: "[On Hand]",
      taken: two
    },
    {
      name: "White space and invisible characters around ids",
      file: "stock.csv",
      content: lines("productId,stock", " SOCK-1\u00A0,12", "\u200BSOCK-2\uFEFF,\u00A00 "),
      taken: two
    },
    {
      name: "Blank lines anywhere",
      file: "stock.csv",
      content: lines("", "productId,stock", "", "SOCK-1,12", "  ", "SOCK-2,0", ""),
      taken: two
    },
    {
      name: "A delimiter at the end of each line",
      file: "stock.csv",
      content: lines("productId;stock;", "SOCK-1;12;", "SOCK-2;0;"),
      taken: two
    },
    {
      name: "A delimiter at the end of each line but the header",
      file: "stock.csv",
      content: lines("productId;stock", "SOCK-1;12;", "SOCK-2;0;"),
      taken: two
    },
    {
      name: "Rows with too few or too many columns",
      file: "stock.csv",
      content: lines("productId,stock,name", "A-1,1,Sock", "A-2,2", "A-3,3,Sock, wool", "A-4,4,Cap"),
      taken: [["A-1", 1], ["A-4", 4]],
      rejected: [[3, "it has 2 columns, and the header has 3"], [4, "it has 4 columns, and the header has 3"]]
    },
    {
      name: "A column twice",
      file: "stock.csv",
      content: lines("productId,stock,stock", "A-1,1,2"),
      refused: "the column \"stock\" occurs 2 times; the columns are \"productId\", \"stock\", \"stock\". Keep one of them"
    },
    {
      name: "A column twice, but for its case",
      file: "stock.csv",
      content: lines("productId,Stock,STOCK", "A-1,1,2"),
      refused: "the column \"stock\" occurs 2 times; the columns are \"productId\", \"Stock\", \"STOCK\". Keep one of them"
    },
    {
      name: "A column by almost the expected name",
      file: "stock.csv",
      content: lines("product_id,stock", "A-1,1"),
      refused:
        "there is no column \"productId\"; the columns are \"product_id\", \"stock\". Did you mean \"product_id\"? Rename it, or select it with --id-column"
    },
    {
      name: "No header",
      file: "stock.csv",
      content: lines("SOCK-1,12", "SOCK-2,0"),
      refused:
        "the first line (\"SOCK-1\", \"12\") looks like data, not like a header: add a first line with the names of the columns, including \"productId\" and \"stock\""
    },
    {
      name: "Comment lines above the header",
      file: "stock.csv",
      content: lines("# exported 2024-05-01", "productId,stock", "A-1,1"),
      refused:
        "there is no column \"productId\"; the columns are \"# exported 2024-05-01\". Add it, or select another column with --id-column. Delete any lines above the header, such as a title"
    },
    {
      name: "Comment lines between rows",
      file: "stock.csv",
      content: lines("productId,stock", "A-1,1", "# winter", "A-2,2"),
      taken: [["A-1", 1], ["A-2", 2]],
      rejected: [[3, "it has 1 column, and the header has 2"]]
    },
    {
      name: "A message of a failed export",
      file: "stock.csv",
      content: lines("productId,stock", "A-1,1", "A-2,1",
        "PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted in export.php"),
      refused:
        "\"PHP Fatal error:  Allowed memory size of 134217728 bytes exh…\" is an error message, so the row before it may be cut. Export or transfer it again, or accept it with --accept-partial error-text"
    },
    {
      name: "A last line that is no row",
      file: "stock.csv",
      content: lines("productId,stock", "A-1,1", "A-2"),
      refused:
        "its last line is no row (\"A-2\"), so it may be cut. Export or transfer it again, or accept it with --accept-partial last-row"
    },
    {
      name: "A row of totals without an id",
      file: "stock.csv",
      content: lines("productId,stock", "A-1,1", "A-2,2", ",3"),
      taken: [["A-1", 1], ["A-2", 2]],
      rejected: [[4, "productId is empty"]]
    },
    {
      name: "A row of totals with a word for an id",
      file: "stock.csv",
      content: lines("productId,stock", "A-1,1", "Total,1"),
      taken: [["A-1", 1], ["Total", 1]],
      note: "\"Total\" could be an id. The service responds with NOT_FOUND for it; other rows are not affected."
    },
    {
      name: "A product on two lines",
      file: "stock.csv",
      content: lines("productId,stock", "A-1,1", "A-1,2"),
      taken: [["A-1", 1], ["A-1", 2]],
      note: "Both programs reject all lines of such a product, because either number may be correct."
    },
    {
      name: "Another delimiter",
      file: "stock.csv",
      content: lines("productId:stock", "SOCK-1:12", "SOCK-2:0"),
      delimiter: ":",
      taken: two
    },
    {
      name: "An unclosed quote",
      file: "stock.csv",
      content: lines("productId,stock,name", "A-1,1,\"Sock", "A-2,2,Cap"),
      refused:
        "a quote opens here and is never closed, so the rest of the file can't be trusted. Quote the whole field, and double the quotes inside it"
    },
    {
      name: "Inches without doubled quotes",
      file: "stock.csv",
      content: lines("productId,stock,name", "A-1,1,Screen 24\"", "A-2,2,Cap"),
      refused:
        "there is a quote inside a field without quotes, so the rest of the file can't be trusted. Quote the whole field, and double the quotes inside it"
    },
    {
      name: "Header without rows",
      file: "stock.csv",
      content: lines("productId,stock"),
      refused: "it has a header and no rows, which is more likely a broken export than an empty shop"
    },
    { name: "Empty file", file: "stock.csv", content: "", refused: "it is empty" }
  ]],
  ["Values of stock", [
    {
      name: "Ways to write twelve",
      file: "stock.csv",
      content: lines("productId;stock", "A;12", "B;012", "C;12.0", "D;12,00", "E; 12\u00A0"),
      taken: [["A", 12], ["B", 12], ["C", 12], ["D", 12], ["E", 12]]
    },
    {
      name: "Ways to write a number below zero",
      file: "stock.csv",
      content: lines("productId;stock", "A;-5", "B;5-", "C;\u22125", "D;(5)", "E;-2,5", "F;-1.234", "G;'-5"),
      negative: "zero",
      taken: [["A", 0, true], ["B", 0, true], ["C", 0, true], ["D", 0, true], ["E", 0, true], ["F", 0, true], ["G", 0, true]]
    },
    {
      name: "The same, rejected",
      file: "stock.csv",
      content: lines("productId;stock", "A;-5", "B;5-", "C;\u22125", "D;(5)", "E;1"),
      negative: "reject",
      taken: [["E", 1]],
      rejected: [[2, "stock \"-5\" is negative"], [3, "stock \"5-\" is negative"], [4, "stock \"\u22125\" is negative"], [
        5,
        "stock \"(5)\" is negative"
      ]]
    },
    {
      name: "Separators of thousands",
      file: "stock.csv",
      content: lines("productId;stock", "A;1,234", "B;1.234", "C;1 234", "D;1\u00A0234", "E;1\u202F234", "F;1'234", "G;1.234.567",
        "H;1,00,000", "I;1234", "J;1,234,567"),
      taken: [["A", 1234], ["B", 1234], ["C", 1234], ["D", 1234], ["E", 1234], ["F", 1234], ["G", 1234567], ["H", 100000], ["I", 1234], [
        "J",
        1234567
      ]]
    },
    {
      name: "Fractions of zeros",
      file: "stock.csv",
      content: lines("productId;stock", "A;12.0", "B;12.00", "C;1,200.00", "D;0.000", "E;12.0000"),
      taken: [["A", 12], ["B", 12], ["C", 1200], ["D", 0], ["E", 12]]
    },
    {
      name: "Numbers with two readings",
      file: "stock.csv",
      content: lines("productId;stock", "A;1.000", "B;12,000", "C;7"),
      taken: [["C", 7]],
      rejected: [
        [2, "stock \"1.000\" can be read as thousands or as a fraction: write it without separators, or set --decimal or --thousands"],
        [3, "stock \"12,000\" can be read as thousands or as a fraction: write it without separators, or set --decimal or --thousands"]
      ]
    },
    {
      name: "The same with a setting",
      file: "stock.csv",
      content: lines("productId;stock", "A;1.000", "B;12,000", "C;5.500"),
      separators: { decimal: "," },
      taken: [["A", 1000], ["B", 12], ["C", 5500]]
    },
    {
      name: "Quantities with three decimals",
      file: "stock.csv",
      content: lines("productId;stock", "A;5.500", "B;0.000"),
      refused:
        "line 2: stock \"5.500\" is a whole number only if \".\" groups thousands, and line 3: stock \"0.000\" shows that it begins a " +
        "fraction: set --decimal or --thousands"
    },
    {
      name: "Quantities with three decimals and a setting",
      file: "stock.csv",
      content: lines("productId;stock", "A;5.500", "B;0.000", "C;12.000"),
      separators: { decimal: "." },
      taken: [["B", 0], ["C", 12]],
      rejected: [[2, "stock \"5.500\" is not a whole number"]]
    },
    {
      name: "The sum of several columns",
      file: "stock.csv",
      content: lines("sku,available,reserved,warehouse2", "A,10,3,5", "B,2,3,0", "C,7,,1", "D,-2,0,5"),
      idColumn: "sku",
      stockColumn: [{ column: "available", sign: 1 }, { column: "reserved", sign: -1 }, { column: "warehouse2", sign: 1 }],
      negative: "zero",
      taken: [["A", 12], ["B", 0, true], ["D", 3]],
      rejected: [[4, "reserved is empty, which does not count as zero"]]
    },
    {
      name: "A reserved quantity with its sign",
      file: "stock.csv",
      content: lines("sku,available,reserved", "A,10,-3", "B,5,1"),
      idColumn: "sku",
      stockColumn: [{ column: "available", sign: 1 }, { column: "reserved", sign: -1 }],
      negative: "zero",
      taken: [["B", 4]],
      rejected: [[2, "reserved \"-3\" is negative, and it is subtracted: write it without its sign, or add the column"]]
    },
    {
      name: "Words, units and bounds",
      file: "stock.csv",
      content: lines("productId;stock", "A;12 pcs", "B;in stock", "C;yes", "D;>10", "E;10+", "F;n/a", "G;1"),
      taken: [["G", 1]],
      rejected: [
        [2, "stock \"12 pcs\" is not a number: write only the digits"],
        [3, "stock \"in stock\" is not a number"],
        [4, "stock \"yes\" is not a number"],
        [5, "stock \">10\" is not an exact number"],
        [6, "stock \"10+\" is not an exact number"],
        [7, "stock \"n/a\" is not a number"]
      ]
    },
    {
      name: "Signs, exponents and other digits",
      file: "stock.csv",
      content: lines("productId;stock", "A;+5", "B;1e3", "C;1,2E+03", "D;\uFF11\uFF12", "E;\u0661\u0662", "F;0x10", "G;1"),
      taken: [["G", 1]],
      rejected: [
        [2, "stock \"+5\" has a plus sign, which may stand for a change: write the stock without it"],
        [3, "stock \"1e3\" is not a number: write out its digits, without an exponent"],
        [4, "stock \"1,2E+03\" is not a number: write out its digits, without an exponent"],
        [5, "stock \"\uFF11\uFF12\" is not a number in the digits 0 to 9: write it in these digits"],
        [6, "stock \"\u0661\u0662\" is not a number in the digits 0 to 9: write it in these digits"],
        [7, "stock \"0x10\" is not a number: write only the digits"]
      ]
    },
    {
      name: "Fractions, empty values and too large numbers",
      file: "stock.csv",
      content: lines("productId;stock", "A;2.5", "B;,5", "C;", "D;-", "E;9007199254740992", "F;1"),
      taken: [["F", 1]],
      rejected: [
        [2, "stock \"2.5\" is not a whole number"],
        [3, "stock \",5\" is not a whole number"],
        [4, "stock is empty, which does not count as zero"],
        [5, "stock \"-\" is not a number"],
        [6, "stock \"9007199254740992\" is over 9007199254740991, the largest number that can be sent exactly"]
      ]
    }
  ]],
  ["JSON and NDJSON", [
    {
      name: "An array of objects",
      file: "stock.json",
      content: json([{ productId: "SOCK-1", stock: 12 }, { productId: "SOCK-2", stock: "0" }]),
      taken: two
    },
    {
      name: "An object with its rows under data",
      file: "stock.json",
      content: json({ total: 2, data: [{ productId: "SOCK-1", stock: 12 }, { productId: "SOCK-2", stock: 0 }], next_cursor: null }),
      taken: two
    },
    {
      name: "One page of several",
      file: "stock.json",
      content: json({ data: [{ productId: "SOCK-1", stock: 12 }], next_cursor: "c2" }),
      refused:
        "it is one page of several: next_cursor is set (\"c2\"). Provide a document with all items, or accept it with --accept-partial next_cursor"
    },
    {
      name: "One page of several, by a total",
      file: "stock.json",
      content: json({ data: [{ productId: "SOCK-1", stock: 12 }], meta: { total: 2, per_page: 1 } }),
      refused:
        "it is one page of several: meta.total is 2, and it has 1 item. Provide a document with all items, or accept it with --accept-partial meta.total"
    },
    {
      name: "One page of several, to a reader that requests the next one",
      file: "stock.json",
      content: json({ next_cursor: "c2", data: [{ productId: "SOCK-1", stock: 12 }, { productId: "SOCK-2", stock: 0 }] }),
      pages: true,
      nextCursor: "c2",
      taken: two
    },
    {
      name: "Nested rows, with values in inner objects",
      file: "stock.json",
      content: json({
        result: {
          items: [{ product: { id: "SOCK-1" }, inventory: { available: 12 } }, { "product.id": "SOCK-2", inventory: { available: 0 } }]
        }
      }),
      items: "result.items",
      idColumn: "product.id",
      stockColumn: "inventory.available",
      taken: two
    },
    {
      name: "Nested rows, with values in inner arrays",
      file: "stock.json",
      content: json({
        data: [{ item: { sku: "SOCK-1" }, quantities: [{ quantity: 12 }] }, { item: { sku: "SOCK-2" }, quantities: [{ quantity: 0 }] }, {
          item: { sku: "SOCK-3" },
          quantities: []
        }]
      }),
      idColumn: "item.sku",
      stockColumn: "quantities.0.quantity",
      taken: two,
      rejected: [[3, "quantities.0.quantity is missing, which does not count as zero"]]
    },
    {
      name: "An array of objects that hold the rows",
      file: "stock.json",
      content: json([{ variants: [{ sku: "SOCK-1", qty: 12 }] }, { variants: [] }, { variants: [{ sku: "SOCK-2", qty: 0 }] }]),
      items: "variants",
      idColumn: "sku",
      stockColumn: "qty",
      taken: two
    },
    {
      name: "Ids as numbers",
      file: "stock.json",
      content:
        `[{"productId":42,"stock":1},{"productId":9007199254740993,"stock":2},{"productId":1e3,"stock":3},{"productId":1.5,"stock":4}]`,
      taken: [["42", 1], ["1000", 3]],
      rejected: [[2, "productId is neither a text nor an exact whole number: write it as a text"], [
        4,
        "productId is neither a text nor an exact whole number: write it as a text"
      ]],
      note: "A number beyond 2^53 has lost its last digits before it arrives."
    },
    {
      name: "Stocks as numbers",
      file: "stock.json",
      content:
        `[{"productId":"A","stock":12.0},{"productId":"B","stock":2.5},{"productId":"C","stock":-3},{"productId":"D","stock":true},{"productId":"E","stock":{"qty":1}},{"productId":"F"}]`,
      negative: "zero",
      taken: [["A", 12], ["C", 0, true]],
      rejected: [
        [2, "stock 2.5 is not a whole number"],
        [4, "stock is true, not a number"],
        [5, "stock is an object or a list, not a number"],
        [6, "stock is missing, which does not count as zero"]
      ]
    },
    {
      name: "A duplicate name in one object",
      file: "stock.json",
      content: `[{"productId":"A","stock":1,"stock":2}]`,
      taken: [["A", 2]],
      note: "The last one counts, as usual in JSON."
    },
    {
      name: "An object of products by id",
      file: "stock.json",
      content: json({ data: { "SOCK-1": { stock: 12 } } }),
      refused: "there is no array (expected in the document itself or its data; select another path with --items)"
    },
    {
      name: "An error instead of rows",
      file: "stock.json",
      content: json({ error: { code: 401, message: "unauthorized" } }),
      refused:
        "there is no item in it (expected in the document itself or its data; select another path with --items), which is more likely a broken export than an empty shop"
    },
    {
      name: "An error of JSON where CSV is expected",
      file: "stock.csv",
      content: json({ error: "unauthorized" }),
      refused: "it looks like JSON, not like CSV: set --format to json or ndjson"
    },
    {
      name: "An array of JSON where CSV is expected",
      file: "stock.csv",
      content: json([{ productId: "A", stock: 1 }]),
      refused: "it looks like JSON, not like CSV: set --format to json or ndjson"
    },
    {
      name: "Truncated",
      file: "stock.json",
      content: `[{"productId":"A","stock":1},{"productId":"B"`,
      refused: "after 1 item it is truncated"
    },
    {
      name: "An empty array",
      file: "stock.json",
      content: "[]",
      refused:
        "there is no item in it (expected in the document itself or its data; select another path with --items), which is more likely a broken export than an empty shop"
    },
    {
      name: "One object per line",
      file: "stock.ndjson",
      content: lines(json({ productId: "SOCK-1", stock: 12 }), "", json({ productId: "SOCK-2", stock: 0 })),
      taken: two
    },
    {
      name: "One object per line, one of them damaged",
      file: "stock.jsonl",
      content: lines(json({ productId: "SOCK-1", stock: 12 }), "{\"productId\":", json({ productId: "SOCK-2", stock: 0 })),
      taken: two,
      rejected: [[2, "\"{\\\"productId\\\":\" is not JSON"]]
    },
    {
      name: "One object per line, the last one truncated",
      file: "stock.ndjson",
      content: `${json({ productId: "A", stock: 1 })}\n{"productId":"B","sto`,
      refused: "the last line is an incomplete JSON object: the source is truncated"
    },
    {
      name: "One object per line, in a file named .json",
      file: "stock.json",
      content: lines(json({ productId: "A", stock: 1 }), json({ productId: "B", stock: 2 })),
      refused: "it is several JSON objects, not one document: set --format to ndjson"
    },
    {
      name: "An array, in a file named .ndjson",
      file: "stock.ndjson",
      content: "[\n  {\"productId\":\"A\",\"stock\":1}\n]\n",
      refused: "it is one JSON document, not one object per line: set --format to json"
    }
  ]],
  ["Compressed files and other kinds", [
    { name: "CSV compressed with gzip", file: "stock.csv.gz", content: gzipSync(simple), shown: "gzip", taken: two },
    {
      name: "JSON compressed with gzip, whatever the name",
      file: "stock.json",
      content: gzipSync(json([{ productId: "SOCK-1", stock: 12 }, { productId: "SOCK-2", stock: 0 }])),
      shown: "gzip",
      taken: two
    },
    {
      name: "Two gzip files joined",
      file: "stock.ndjson.gz",
      content: Buffer.concat([gzipSync("{\"productId\":\"SOCK-1\",\"stock\":12}\n"), gzipSync("{\"productId\":\"SOCK-2\",\"stock\":0}\n")]),
      shown: "gzip",
      taken: two
    },
    {
      name: "gzip with zeros after it",
      file: "stock.csv.gz",
      content: Buffer.concat([gzipSync(simple), Buffer.alloc(2000)]),
      shown: "gzip",
      taken: two
    },
    {
      name: "gzip with other bytes after it",
      file: "stock.csv.gz",
      content: Buffer.concat([gzipSync(simple), Buffer.from("trailer")]),
      shown: "gzip",
      refused: "the gzip data is damaged (incorrect header check): export or transfer it again"
    },
    { name: "UTF-16 compressed with gzip", file: "stock.csv.gz", content: gzipSync(utf16le(simple)), shown: "gzip of UTF-16", taken: two },
    {
      name: "gzip, truncated",
      file: "stock.csv.gz",
      content: gzipSync(simple).subarray(0, -9),
      shown: "gzip",
      refused: "the gzip data is truncated: export or transfer it again"
    },
    {
      name: "gzip, damaged",
      file: "stock.csv.gz",
      content: Buffer.concat([gzipSync(simple).subarray(0, -8), Buffer.alloc(8)]),
      shown: "gzip",
      refused: "the gzip data is damaged (incorrect data check): export or transfer it again"
    },
    {
      name: "Zip archive",
      file: "stock.zip",
      content: zip({ "stock.csv": simple }),
      shown: "a zip archive with stock.csv",
      refused: "it is a zip archive, but no Excel workbook: unpack the archive, and name the file in it"
    },
    {
      name: "HTML page of an error or a login, with status 200",
      file: "stock.csv",
      content: "\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n",
      refused: "it is an HTML page, perhaps an error or a login page: check the address and its authorization"
    },
    {
      name: "HTML where JSON is expected",
      file: "stock.json",
      content: "<html><body>502 Bad Gateway</body></html>",
      refused: "it is an HTML page, perhaps an error or a login page: check the address and its authorization"
    },
    {
      name: "XML",
      file: "stock.xml",
      content: "<?xml version=\"1.0\"?>\n<products><product id=\"A\" stock=\"1\"/></products>",
      refused: "it is XML: export CSV UTF-8, JSON or NDJSON"
    },
    {
      name: "XML without a declaration",
      file: "stock.csv",
      content: "<products><product><sku>A</sku></product></products>",
      refused: "it is XML: export CSV UTF-8, JSON or NDJSON"
    },
    {
      name: "PDF",
      file: "stock.csv",
      content: "%PDF-1.7\n%\u00E2\u00E3",
      shown: "%PDF",
      refused: "it is a PDF, which has no rows: export CSV UTF-8"
    }
  ]]
]
