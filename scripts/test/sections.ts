import { flushCompileCache } from 'node:module'
import test, { type ExecutionContext, type ImplementationFn } from 'ava'

// Files that share a thread. Each file is a section: its tests and hooks run as they would alone, after those of the section before.
// Loading Kontor costs a second of processor time and a world half a second, so a thread per file cost three times as much.

type Run = ImplementationFn<[]>
type Hook = () => unknown

interface Declared {
  readonly title: string
  readonly run: Run
  readonly isSerial: boolean
}

/** Replaces `ava` for a test file that shares a thread. It has those of AVA's hooks and modifiers that the tests use. */
export class Section {
  readonly #name: string
  readonly #tests: Declared[] = []
  readonly #skipped: string[] = []
  readonly #before: Hook[] = []
  readonly #after: Hook[] = []
  readonly #afterEach: Hook[] = []

  constructor(name: string) {
    this.#name = name
  }

  /** The function `test` of this file. */
  get test() {
    const declare = (isSerial: boolean) => (title: string, run: Run) => void this.#tests.push({ title, run, isSerial })
    const skip = (title: string) => void this.#skipped.push(title)
    const hooks = (list: Hook[]) => (hook: Hook) => void list.push(hook)
    return Object.assign(declare(false), {
      serial: Object.assign(declare(true), { skip }),
      skip,
      before: hooks(this.#before),
      // A section continues after a failed test, so both kinds are the same.
      after: Object.assign(hooks(this.#after), { always: hooks(this.#after) }),
      afterEach: { always: hooks(this.#afterEach) },
    })
  }

  /** Declares the tests to AVA; they run after `previous`. Resolves when all tests and their `after` hooks have ended. */
  declare(previous: Promise<void>): Promise<void> {
    for (const title of this.#skipped) test.skip(this.#titled(title), () => undefined)
    const begun = previous.then(() => inOrder(this.#before))
    begun.catch(() => undefined) // A failed `before` hook fails each of its tests.
    const serial = this.#tests.filter(({ isSerial }) => isSerial)
    const concurrent = this.#tests.filter(({ isSerial }) => !isSerial)
    let last = previous
    for (const one of serial) last = this.#declareOne(one, begun, last)
    const ended = concurrent.map((one) => this.#declareOne(one, begun, last))
    const closed = Promise.all([last, ...ended]).then(() => inOrder(this.#after))
    // As a hook of AVA, so that AVA reports its failure.
    if (this.#after.length > 0 && this.#tests.length > 0) test.after.always(this.#titled('after'), () => closed)
    return closed.catch(() => undefined)
  }

  #titled(title: string): string {
    return `${this.#name} › ${title}`
  }

  #declareOne({ title, run }: Declared, begun: Promise<void>, previous: Promise<void>): Promise<void> {
    const ended = Promise.withResolvers<void>()
    test(this.#titled(title), async (t: ExecutionContext) => {
      t.teardown(ended.resolve) // Teardowns run in reverse order, so this one is the last.
      if (this.#afterEach.length > 0) t.teardown(() => inOrder(this.#afterEach))
      await previous
      await begun
      await run(t)
    })
    return ended.promise
  }
}

async function inOrder(hooks: readonly Hook[]): Promise<void> {
  for (const hook of hooks) await hook()
}

const sections = new Map<string, Section>()

/** The section of a file below `test`, named as AVA would name it. */
export function sectionOf(file: string): Section {
  const found = sections.get(file) ?? new Section(file.replace(/\.test\.ts$/, ''))
  sections.set(file, found)
  return found
}

/** Loads these files below `test` and declares their tests, one file after the other. */
export async function runSections(files: readonly string[]): Promise<void> {
  for (const file of files) {
    sectionOf(file)
    await import(`#test/${file}?section`)
  }
  flushCompileCache() // For threads and processes that start from now on; otherwise the cache is written when the run ends.
  let previous = Promise.resolve()
  for (const section of sections.values()) previous = section.declare(previous)
}
