import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Values } from '#test/faults/events/rows.ts'
import type { Sender } from '#test/faults/load/sender.ts'

/** An event as a reader got it. */
export interface ReadEvent {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly subject: { readonly object_type: string; readonly id: string }
  readonly data: {
    readonly view: string
    readonly before: Values | null
    readonly after: Values | null
    readonly changed: readonly string[]
  }
}

interface Page {
  readonly after: string
  readonly limit: number
  readonly events: readonly ReadEvent[]
  readonly next: number
}

/** Pages of which a reader keeps a copy, to read them again. */
const keptPages = 400

/** Follows the list of events by polling, and reads random pages again meanwhile. */
export class Reader {
  /** All events in the order in which they were read, and the time of each. */
  readonly events: ReadEvent[] = []
  readonly times: number[] = []
  readonly wrong = new Set<string>()
  /** Pages that were read again. */
  rereads = 0
  /** The last number of the list when it was read last. */
  lastSeq = 0
  readonly name: string
  readonly sender: Sender
  readonly #path: string
  readonly #pages: Page[] = []
  #after = ''

  constructor(name: string, sender: Sender, path: string) {
    this.name = name
    this.sender = sender
    this.#path = path
  }

  /** Reads until it is over and the end of the list is reached. */
  async follow(isOver: () => boolean): Promise<void> {
    for (let at = 0; ; ) {
      const mayEnd = isOver()
      const page = await this.#read(this.#after, pickLimit())
      if (!page) continue
      if (page.next < at) this.wrong.add(`${this.name}: next_after went from ${at} back to ${page.next}`)
      this.events.push(...page.events)
      this.times.push(...page.events.map(() => performance.now()))
      this.#after = String(page.next)
      at = page.next
      this.#keep(page)
      if (this.#pages.length > 0 && (mayEnd || randomInt(2) === 0)) await this.#readAgain()
      if (mayEnd && at === this.lastSeq) return
    }
  }

  async #read(after: string, limit: number): Promise<Page | undefined> {
    const query = after === '' ? '' : `&after=${after}`
    const { status, data } = await this.sender.once({ method: 'GET', path: `${this.#path}/events?limit=${limit}${query}` })
    if (status !== 200) return undefined
    this.lastSeq = Math.max(this.lastSeq, data.last_seq)
    return { after, limit, events: data.events, next: Number(data.next_after.split(':')[1]) }
  }

  #keep(page: Page): void {
    if (page.events.length === 0) return
    if (this.#pages.length < keptPages) this.#pages.push(page)
    else this.#pages[randomInt(keptPages)] = page
  }

  /** A page read again begins with the same events; what it has besides is above what was read then. */
  async #readAgain(): Promise<void> {
    const page = this.#pages[randomInt(this.#pages.length)]
    const again = page && (await this.#read(page.after, page.limit))
    if (!again) return
    this.rereads += 1
    const same = again.events.slice(0, page.events.length)
    if (!isDeepStrictEqual(same, page.events)) this.wrong.add(`${this.name}: the page after ${page.after} has changed`)
    if (again.events.slice(page.events.length).some(({ seq }) => seq <= page.next))
      this.wrong.add(`${this.name}: an event appeared below ${page.next}, which had been read`)
  }
}

const pickLimit = (): number => [7, 100, 500][randomInt(3)] ?? 100
