import { createSdk, type Sdk } from '#workers/features/functions/sandbox/guest/sdk.ts'
import { type GuestSetup, guestSetup, type Post, saveIntrinsics } from '#workers/features/functions/sandbox/guest/setup.ts'
import { createGuestText, type GuestText } from '#workers/features/functions/sandbox/guest/text.ts'
import { createTimers, type Timers } from '#workers/features/functions/sandbox/guest/timers.ts'

/** Functions by which the runner calls into an isolate. Their arguments are primitive values, and they return nothing. */
export interface GuestEntries {
  /** Evaluates the source and calls its handler with the input, JSON; `methods` are names of SDK methods, separated by blanks. */
  readonly begin: (source: string, methods: string, input: string) => void
  readonly complete: Sdk['complete']
  readonly fire: Timers['fire']
  readonly noop: () => void
}

const parts = { saveIntrinsics, createGuestText, createConsole, createTimers, createSdk }

/**
 * Returns the first code that every fresh isolate evaluates: the body of a function whose parameter `$0` is the isolate's `Post`. Strict
 * mode hides the platform's functions from the function's code, in stack frames and `caller`.
 */
export function guestText(): string {
  const partsText = Object.entries(parts).map(([name, part]) => `${name}: ${part}`)
  return `'use strict'; return (${guest})($0, ${JSON.stringify(guestSetup)}, { ${partsText.join(', ')} })`
}

/**
 * Removes forbidden globals and adds `sdk`, `console` and timers. The source of the workspace's function may change any prototype, so code
 * of the platform that runs later uses only saved intrinsics, own properties and plain syntax.
 */
function guest(
  post: Post,
  setup: GuestSetup,
  { saveIntrinsics, createGuestText, createConsole, createTimers, createSdk }: typeof parts,
): GuestEntries {
  const { limits, kinds } = setup
  const intrinsics = saveIntrinsics()
  const { apply, defineProperty, evaluate, parse, stringify, SavedError } = intrinsics
  const root = globalThis as unknown as Record<string, unknown>
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics']) delete root[name]

  const text = createGuestText(intrinsics, limits.errorCharacters)
  const { fire, setTimeout, clearTimeout } = createTimers(intrinsics, text, post, setup)
  const sdk = createSdk(intrinsics, text, post, setup)
  const globals: Record<string, unknown> = { console: createConsole(text, post, setup), setTimeout, clearTimeout }
  for (const name in globals) defineProperty(root, name, { value: globals[name], configurable: true, writable: true })

  const begin: GuestEntries['begin'] = (source, methods, input) => {
    defineProperty(root, 'sdk', { value: sdk.create(methods === '' ? [] : methods.split(' ')), configurable: true, writable: true })
    void run(source, input)
  }

  const run = async (source: string, input: string): Promise<void> => {
    let kind: number = kinds.returned
    let output: string
    try {
      const handler = evaluate(`${source}\n;typeof handler === 'function' ? handler : undefined\n//# sourceURL=function.js`)
      if (typeof handler !== 'function') throw new SavedError('the source defines no function named handler')
      output = resultText(await apply(handler, undefined, [parse(input)]))
    } catch (thrown) {
      output = text.messageOf(thrown)
      // V8's message when the isolate's allocator refuses a buffer because of the memory limit.
      kind = output === 'Array buffer allocation failed' ? kinds.memory : kinds.threw
    }
    post(kind, 0, kind === kinds.memory ? '' : output)
    // SDK calls that the function did not await are executed as well: the run ends when they have ended, or at its time limit.
    void sdk.whenIdle(() => post(kinds.done, 0, ''))
  }

  const resultText = (value: unknown): string => {
    if (value === undefined) return 'null'
    let json: string | undefined
    try {
      json = stringify(value)
    } catch (thrown) {
      throw new SavedError(`the result cannot be written as JSON: ${text.messageOf(thrown)}`)
    }
    if (json === undefined) throw new SavedError(`the result cannot be written as JSON: it is a ${typeof value}`)
    if (json.length > limits.jsonCharacters) throw new SavedError(`the result has more than ${limits.jsonCharacters} characters of JSON`)
    return json
  }

  return { begin, complete: sdk.complete, fire, noop: () => undefined }
}

/**
 * Creates the global `console`. It sends at most one line or one character more than the limit, by which the worker knows that output was
 * cut. The isolate evaluates the text of this function, so the function may use only its parameters.
 */
function createConsole({ truncate, describe }: GuestText, post: Post, { limits, kinds, levels }: GuestSetup): object {
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
