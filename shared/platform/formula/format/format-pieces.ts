/** One piece of a format: quoted or escaped text, the content of brackets, or a run of pattern characters. */
export interface FormatPiece {
  readonly kind: 'literal' | 'bracket' | 'pattern'
  readonly text: string
}

const piecePattern = /"([^"]*)"?|\\(.)|_(.)|\*.|\[([^\]]*)\]|AM\/PM|A\/P|General|([a-z])\5*|[\s\S]/giu

/** Splits a format into sections at `;`, and each section into pieces. `_x` is a blank, `*x` is dropped. */
export function parseFormat(format: string): FormatPiece[][] {
  const sections: FormatPiece[][] = [[]]
  for (const [piece, inQuotes, escaped, blank, inBrackets] of format.matchAll(piecePattern)) {
    if (piece === ';') sections.push([])
    else if (inQuotes !== undefined) sections.at(-1)!.push({ kind: 'literal', text: inQuotes })
    else if (escaped !== undefined) sections.at(-1)!.push({ kind: 'literal', text: escaped })
    else if (blank !== undefined) sections.at(-1)!.push({ kind: 'literal', text: ' ' })
    else if (inBrackets !== undefined) sections.at(-1)!.push({ kind: 'bracket', text: inBrackets })
    else if (!piece.startsWith('*')) sections.at(-1)!.push({ kind: 'pattern', text: piece })
  }
  return sections
}
