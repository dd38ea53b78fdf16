import type { GuestSetup, Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import type { GuestText } from '#workers/features/functions/sandbox/guest/text.ts'

/**
 * Creates the global `console`. It sends one line or character more than the limit, so that the worker knows that output was cut, and then
 * nothing. The isolate evaluates this function's text, so it refers to nothing outside itself.
 */
export function createConsole({ truncate, describe }: GuestText, post: Post, { limits, kinds, levels }: GuestSetup): object {
  let linesLeft = limits.logLines + 1
  let charactersLeft = limits.logBytes + 1
  const print =
    (level: number) =>
    (...values: unknown[]): void => {
      if (linesLeft === 0 || charactersLeft === 0) return
      let text = ''
      for (let index = 0; index < values.length; index++) text += `${index > 0 ? ' ' : ''}${describe(values[index])}`
      text = truncate(text, charactersLeft)
      linesLeft -= 1
      charactersLeft -= text.length
      post(kinds.log, level, text)
    }
  const console: Record<string, unknown> = {}
  for (const [level, name] of levels.entries()) console[name] = print(level)
  console.debug = console.log
  return console
}
