/** Formats rows as lines with aligned columns, without trailing blanks; the first row is often a heading. A null is left blank. */
export function formatTable(rows: readonly (readonly (string | number | null)[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => String(cell ?? '')))
  const widths = cells.reduce<number[]>((widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)), [])
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
