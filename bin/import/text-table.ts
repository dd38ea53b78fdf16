/** Maximum characters of a cell; longer cells are cut. */
const maxCellLength = 44

/** Formats rows as lines of text with aligned columns. */
export function textTable(rows: readonly (readonly string[])[]): readonly string[] {
  const cut = rows.map((cells) => cells.map(shorten))
  const widths = (cut[0] ?? []).map((_, index) => Math.max(...cut.map((cells) => [...(cells[index] ?? '')].length)))
  return cut.map((cells) =>
    cells
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  )
}

function shorten(cell: string): string {
  const characters = [...cell.replace(/[\s\p{C}]+/gu, ' ').trim()]
  return characters.length <= maxCellLength ? characters.join('') : `${characters.slice(0, maxCellLength - 1).join('')}…`
}
