import test from 'ava'
import { progressBar } from '../../bin/client/progress-bar.ts'

/** Moves to the start of a terminal's line and clears it. */
const over = '\r\u001b[K'

/** A terminal that records its output. */
function screen(isTTY: boolean) {
  const written: string[] = []
  return { isTTY, write: (text: string) => written.push(text), written }
}

test('progress bar: a bar is redrawn in place and removed at the end', (t) => {
  const terminal = screen(true)
  const bar = progressBar(terminal, 2_000, 'rows')
  bar.show(0)
  bar.show(500)
  bar.show(2_000)
  bar.clear()
  t.true(terminal.written.every((text) => text.startsWith(over)))
  const [none, some, all, gone] = terminal.written.map((text) => text.slice(over.length))
  t.regex(none ?? '', /^░{30} 0 % {2}0 of 2,000 rows, 0 a second$/)
  t.regex(some ?? '', /^█{8}░{22} 25 % {2}500 of 2,000 rows, [\d,]+ a second$/)
  t.regex(all ?? '', /^█{30} 100 % {2}2,000 of 2,000 rows, [\d,]+ a second$/)
  t.is(gone, '')
})

test('progress bar: work without rows is complete, and a log file gets no bar', (t) => {
  const terminal = screen(true)
  progressBar(terminal, 0, 'rows').show(0)
  t.regex(terminal.written[0] ?? '', /█{30} 100 %/)
  const file = screen(false)
  const bar = progressBar(file, 10, 'rows')
  bar.show(5)
  bar.clear()
  t.deepEqual(file.written, [])
})
