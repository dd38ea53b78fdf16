const separators = [',', ';', '\t'] as const
export type Separator = (typeof separators)[number]

const isSeparator = (character: string): character is Separator => (separators as readonly string[]).includes(character)

/** Reads the header row of a CSV text that arrives in pieces. */
interface HeaderScanner {
  /** Reads the next piece. True once the header row is complete; later text is ignored. */
  readonly read: (piece: string) => boolean
  /** The most frequent separator of the header row outside quotes; the comma when it has none. */
  readonly separator: () => Separator
}

/** Creates a scanner for the first non-blank row. A quote opens a quoted cell only at the start of the cell, as in data rows. */
export function createHeaderScanner(): HeaderScanner {
  const counts = new Map<Separator, number>()
  let complete = false
  let blank = true
  let quoted = false
  let atCellStart = true
  function step(character: string): void {
    const isBreak = character === '\n' || character === '\r'
    if (quoted) {
      quoted = character !== '"'
    } else if (isBreak) {
      complete = !blank
    } else {
      blank = false
      // A doubled quote closes the cell and opens it again.
      quoted = character === '"' && atCellStart
      if (isSeparator(character)) counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    atCellStart = quoted || blank || isSeparator(character) || (character === '"' && atCellStart)
  }
  return {
    read(piece) {
      for (let index = 0; index < piece.length && !complete; index++) step(piece.charAt(index))
      return complete
    },
    separator: () => separators.reduce((best, one) => ((counts.get(one) ?? 0) > (counts.get(best) ?? 0) ? one : best)),
  }
}
