/** Reads the inventory file without Plaza, so that the demonstration compares two independent readings. Covers the CSV of that file only. */

/** A row of the file. `stock` is undefined where the file has no whole number. */
export interface InventoryRow {
  readonly line: number
  readonly productId: string
  readonly stock: number | undefined
}

const cell = /"((?:[^"]|"")*)"(?:,|$)|([^,]*)(?:,|$)/gy

const cells = (line: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  cell.lastIndex = 0
  while (cell.lastIndex < line.length || found.length === 0) {
    const match = cell.exec(line)
    if (match === null) break
    found.push(match[1]?.replaceAll("\"\"", "\"") ?? match[2] ?? "")
  }
  return found
}

export const readInventory = (text: string): ReadonlyArray<InventoryRow> => {
  const [header = "", ...lines] = text.trimEnd().split("\n")
  const names = cells(header)
  return lines.map((line, index) => {
    const values = cells(line)
    const stock = values[names.indexOf("stock")] ?? ""
    return {
      line: index + 2,
      productId: values[names.indexOf("productId")] ?? "",
      stock: /^\d+(\.0+)?$/.test(stock) ? Number(stock) : undefined
    }
  })
}
