import type { Terminal } from '../shell.ts'

/** A progress bar in one line of a terminal. */
export interface ProgressBar {
  readonly show: (done: number) => void
  /** Erases the line, so that other text can be printed. */
  readonly clear: () => void
}

const width = 30

/** Creates a bar up to `total`. On a stream that is not a terminal, such as a log file, it shows nothing. */
export function progressBar(terminal: Terminal, total: number, unit: string): ProgressBar {
  const started = performance.now()
  const draw = (text: string): void => {
    if (terminal.isTTY) terminal.write(`\r\u001b[K${text}`)
  }
  return {
    show(done) {
      const part = total === 0 ? 1 : Math.min(1, done / total)
      const bar = '█'.repeat(Math.round(part * width)).padEnd(width, '░')
      const perSecond = Math.round(done / Math.max(0.001, (performance.now() - started) / 1000))
      draw(`${bar} ${Math.floor(part * 100)} %  ${formatCount(done)} of ${formatCount(total)} ${unit}, ${formatCount(perSecond)} a second`)
    },
    clear: () => draw(''),
  }
}

/** Formats a number with separators between thousands. */
export const formatCount = (number: number): string => number.toLocaleString('en-US')
