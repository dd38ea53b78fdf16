import type { Terminal } from '../shell.ts'

/** What a station shows of a scan: a verdict of the API, or that it waits or cannot be judged. */
export type StationVerdict = 'moved' | 'created' | 'duplicate' | 'unknown' | 'blocked' | 'kept' | 'refused'

/** Background colours of a terminal: green for what went on, yellow for what needs no hand, red for what does, blue for what waits. */
const colours: Readonly<Record<StationVerdict, number>> = {
  moved: 42,
  created: 42,
  duplicate: 43,
  unknown: 41,
  blocked: 41,
  refused: 41,
  kept: 44,
}

/** Columns of a terminal that does not say how many it has. */
const narrow = 60

/**
 * Shows a verdict in a colour over the whole width, to be read from some steps away: letters of double height where the terminal knows
 * those (DECDHL of the VT100), and else the word twice. On what is no terminal, in a line of text.
 */
export function showVerdict(terminal: Terminal, shown: StationVerdict, message: string, conflict = false): void {
  const told = `${message}${conflict ? ' (changed since it was scanned)' : ''}`.replace(/\p{Cc}+/gu, ' ')
  if (!terminal.isTTY) {
    terminal.write(`${shown}\t${told}\n`)
    return
  }
  const width = terminal.columns ?? narrow
  const paint = (text: string) => `\u001b[30;${colours[shown]}m${text}\u001b[0m`
  const word = centred(shown.toUpperCase().split('').join(' '), Math.floor(width / 2))
  terminal.write(`\u001b#3${paint(word)}\n\u001b#4${paint(word)}\n\u001b#5${paint(centred(told, width))}\n`)
}

function centred(text: string, width: number): string {
  const shown = [...text].slice(0, width).join('')
  const before = Math.max(0, Math.floor((width - [...shown].length) / 2))
  return `${' '.repeat(before)}${shown}`.padEnd(width)
}
