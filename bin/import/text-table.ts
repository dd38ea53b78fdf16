/** Characters of the widest column; longer cells are cut. */
const widest = 44

/** Rows of cells as lines of text whose columns stand below each other. */
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
  return characters.length <= widest ? characters.join('') : `${characters.slice(0, widest - 1).join('')}…`
}
