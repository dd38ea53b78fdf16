import type { Terminal } from '../shell.ts'

/** Outcome that a station shows: a verdict of the API, `kept` for pending scans, or `refused` for an invalid scan. */
export type StationVerdict = 'moved' | 'created' | 'duplicate' | 'unknown' | 'blocked' | 'kept' | 'refused'

/** ANSI background colours: green for progress, yellow for no action needed, red for action needed, blue for pending. */
const colours: Readonly<Record<StationVerdict, number>> = {
  moved: 42,
  created: 42,
  duplicate: 43,
  unknown: 41,
  blocked: 41,
  refused: 41,
  kept: 44,
}

/** Columns assumed when the terminal does not report its width. */
const defaultColumns = 60

/**
 * Shows a verdict in colour over the whole width, readable from some steps away: in letters of double height where the terminal supports
 * them (DECDHL of the VT100), else as the word twice. Writes a plain line when the output is not a terminal.
 */
export function showVerdict(terminal: Terminal, shown: StationVerdict, message: string, conflict = false): void {
  const line = `${message}${conflict ? ' (changed since it was scanned)' : ''}`.replace(/\p{Cc}+/gu, ' ')
  if (!terminal.isTTY) {
    terminal.write(`${shown}\t${line}\n`)
    return
  }
  const width = terminal.columns ?? defaultColumns
  const paint = (text: string) => `\u001b[30;${colours[shown]}m${text}\u001b[0m`
  const word = centred(shown.toUpperCase().split('').join(' '), Math.floor(width / 2))
  terminal.write(`\u001b#3${paint(word)}\n\u001b#4${paint(word)}\n\u001b#5${paint(centred(line, width))}\n`)
}

function centred(text: string, width: number): string {
  const shown = [...text].slice(0, width).join('')
  const before = Math.max(0, Math.floor((width - [...shown].length) / 2))
  return `${' '.repeat(before)}${shown}`.padEnd(width)
}
