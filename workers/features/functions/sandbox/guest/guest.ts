import { makeConsole } from '#workers/features/functions/sandbox/guest/console.ts'
import { keepIntrinsics } from '#workers/features/functions/sandbox/guest/intrinsics.ts'
import { makeSdk, type Sdk } from '#workers/features/functions/sandbox/guest/sdk.ts'
import { type GuestSetup, guestSetup, type Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import { makeGuestText } from '#workers/features/functions/sandbox/guest/text.ts'
import { makeTimers, type Timers } from '#workers/features/functions/sandbox/guest/timers.ts'

/** Ways into an isolate. They take text and numbers only, and give nothing. */
export interface GuestEntries {
  /** Evaluates the source and calls its handler; `methods` is a JSON list of SDK method names. */
  readonly begin: (source: string, input: string, methods: string) => void
  readonly settle: Sdk['settle']
  readonly fire: Timers['fire']
  readonly nothing: () => void
}

const parts = { keepIntrinsics, makeWords: makeGuestText, makeConsole, makeTimers, makeSdk }

/**
 * The first code in every fresh isolate, as the body of a function whose `$0` is the isolate's `Post`. It is strict, so that neither
 * stack frames nor `caller` give the function ours.
 */
export function guestText(): string {
  const partsText = Object.entries(parts).map(([name, part]) => `${name}: ${part}`)
  return `'use strict'; return (${guest})($0, ${JSON.stringify(guestSetup)}, { ${partsText.join(', ')} })`
}

/**
 * Takes away what a function may not have and puts `sdk`, `console` and `setTimeout` there. Once the function's source has run, any
 * prototype may have been changed: from then on this code uses only the intrinsics that it kept, own properties and plain syntax.
 */
function guest(post: Post, setup: GuestSetup, make: typeof parts): GuestEntries {
  const { limits, kinds } = setup
  const kept = make.keepIntrinsics()
  const { apply, defineProperty, evaluate, parse, stringify, Failure } = kept
  const root = globalThis as unknown as Record<string, unknown>
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics']) delete root[name]

  const words = make.makeWords(kept, limits.errorCharacters)
  const { fire, setTimeout, clearTimeout } = make.makeTimers(kept, words, post, setup)
  const { offer, settle, whenQuiet } = make.makeSdk(kept, words, post, setup)
  const globals: Record<string, unknown> = { console: make.makeConsole(words, post, setup), setTimeout, clearTimeout }
  for (const name in globals) defineProperty(root, name, { value: globals[name], configurable: true, writable: true })

  const begin: GuestEntries['begin'] = (source, input, methods) => {
    defineProperty(root, 'sdk', { value: offer(parse(methods)), configurable: true, writable: true })
    void run(source, input)
  }

  const run = async (source: string, input: string): Promise<void> => {
    let kind: number = kinds.returned
    let text: string
    try {
      const handler = evaluate(`${source}\n;typeof handler === 'function' ? handler : undefined\n//# sourceURL=function.js`)
      if (typeof handler !== 'function') throw new Failure('the source defines no function named handler')
      text = resultText(await apply(handler, undefined, [parse(input)]))
    } catch (thrown) {
      // This is how V8 says that the isolate's allocator has refused a buffer because of the memory limit.
      text = words.messageOf(thrown)
      kind = text === 'Array buffer allocation failed' ? kinds.memory : kinds.threw
    }
    post(kind, 0, kind === kinds.memory ? '' : text)
    // Calls that nobody awaited are carried out all the same: the run ends after them, or when its time is up.
    void whenQuiet(() => post(kinds.quiet, 0, ''))
  }

  const resultText = (value: unknown): string => {
    if (value === undefined) return 'null'
    let text: string | undefined
    try {
      text = stringify(value)
    } catch (thrown) {
      throw new Failure(`the result cannot be written as JSON: ${words.messageOf(thrown)}`)
    }
    if (text === undefined) throw new Failure(`the result cannot be written as JSON: it is a ${typeof value}`)
    if (text.length > limits.jsonCharacters) throw new Failure(`the result has more than ${limits.jsonCharacters} characters of JSON`)
    return text
  }

  return { begin, settle, fire, nothing: () => undefined }
}
