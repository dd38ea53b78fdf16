import { flushCompileCache } from 'node:module'
import test, { type ExecutionContext, type ImplementationFn } from 'ava'

// Files that share a thread. Each is a section: its tests run as they would alone, hooks and all, when those of the section before have
// ended. Loading Kontor costs a second of processor time and a world half of one, so a thread for each file cost three times as much.

type Run = ImplementationFn<[]>
type Hook = () => unknown

interface Declared {
  readonly title: string
  readonly run: Run
  readonly isSerial: boolean
}

/** What a file of tests imports as `ava` where it shares a thread. Of AVA's hooks and modifiers it has those that the tests use. */
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
      // A section goes on when one of its tests fails, so that both kinds are one.
      after: Object.assign(hooks(this.#after), { always: hooks(this.#after) }),
      afterEach: { always: hooks(this.#afterEach) },
    })
  }

  /** Declares the tests to AVA, to run when `turn` has come. Answers when the last has ended and what was to follow it is done. */
  declare(previous: Promise<void>): Promise<void> {
    for (const title of this.#skipped) test.skip(this.#titled(title), () => undefined)
    const begun = previous.then(() => inOrder(this.#before))
    begun.catch(() => undefined) // Each of its tests fails by it.
    const serial = this.#tests.filter(({ isSerial }) => isSerial)
    const concurrent = this.#tests.filter(({ isSerial }) => !isSerial)
    let last = previous
    for (const one of serial) last = this.#declareOne(one, begun, last)
    const ended = concurrent.map((one) => this.#declareOne(one, begun, last))
    const closed = Promise.all([last, ...ended]).then(() => inOrder(this.#after))
    // A hook of AVA, so that what fails in it is told as such.
    if (this.#after.length > 0 && this.#tests.length > 0) test.after.always(this.#titled('after'), () => closed)
    return closed.catch(() => undefined)
  }

  #titled(title: string): string {
    return `${this.#name} › ${title}`
  }

  #declareOne({ title, run }: Declared, begun: Promise<void>, previous: Promise<void>): Promise<void> {
    const ended = Promise.withResolvers<void>()
    test(this.#titled(title), async (t: ExecutionContext) => {
      t.teardown(ended.resolve) // The first is the last to run.
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

/** Loads these files below `test` and declares what they test, one after the other. */
export async function runSections(files: readonly string[]): Promise<void> {
  for (const file of files) {
    sectionOf(file)
    await import(`#test/${file}?section`)
  }
  flushCompileCache() // For the threads and processes that are started from now on; otherwise it is written when the run ends.
  let previous = Promise.resolve()
  for (const section of sections.values()) previous = section.declare(previous)
}
