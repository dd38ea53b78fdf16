import type { GuestSetup, Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import type { GuestText } from '#workers/features/functions/sandbox/guest/text.ts'

/**
 * Makes the global `console`. One line or one character more than the limit goes out, so that the worker knows that there was more; then
 * no more. Its text is evaluated in the isolate, so it names nothing outside itself.
 */
export function makeConsole({ truncate, describe }: GuestText, post: Post, { limits, kinds, levels }: GuestSetup): object {
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
  const made: Record<string, unknown> = {}
  for (const [level, name] of levels.entries()) made[name] = print(level)
  made.debug = made.log
  return made
}
