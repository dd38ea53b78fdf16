import type { Terminal } from '../shell.ts'

/** Shows how far something is, in one line of a terminal that is drawn over and over. */
export interface ProgressBar {
  readonly show: (done: number) => void
  /** Takes the line away, so that other text can be written. */
  readonly clear: () => void
}

const width = 30

/** A bar up to `total` on this terminal; on what is none, such as a log file, it shows nothing. */
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

/** A number with its thousands apart. */
export const formatCount = (number: number): string => number.toLocaleString('en-US')
