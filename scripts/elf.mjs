/**
 * An ELF program without its symbols and debugging information, which follow its last segment: what `strip` does, for the processors of
 * other machines too.
 *
 * @param {Buffer} file a program of 64 bits, little-endian
 */
export const withoutSymbols = (file) => {
  if (file.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") throw new Error("the file is no ELF program of 64 bits, little-endian")
  const table = Number(file.readBigUInt64LE(32))
  const size = file.readUInt16LE(54)
  const segments = Array.from({ length: file.readUInt16LE(56) }, (_, index) => table + index * size)
  const ends = segments.map((at) => Number(file.readBigUInt64LE(at + 8) + file.readBigUInt64LE(at + 32)))
  const stripped = Buffer.from(file.subarray(0, Math.max(...ends)))
  // The table of sections was behind them: its offset, and the numbers of its entries and of their names.
  stripped.writeBigUInt64LE(0n, 40)
  stripped.writeUInt16LE(0, 60)
  stripped.writeUInt16LE(0, 62)
  return stripped
}
