import pg from 'pg'

interface Hearing {
  /** Called with each notification's payload. */
  readonly heard: (payload: string) => void
  /** Called after every (re)connection: notifications may have been missed, so look for yourself. */
  readonly missed: () => void
}

/** A connection that only listens would not notice that nothing comes through any more, so it is asked this often … */
const askEveryMs = 10_000
/** … and given up when it does not answer within this. */
const answerWithinMs = 5_000

/** One LISTEN connection of a process, which connects again by itself for as long as it is open. */
export class NotificationListener {
  readonly #url: string
  readonly #name: string
  readonly #channels: Readonly<Record<string, Hearing>>
  #client: pg.Client | undefined
  #retry: NodeJS.Timeout | undefined
  #asking: NodeJS.Timeout | undefined
  #closed = false

  constructor(url: string, name: string, channels: Readonly<Record<string, Hearing>>) {
    this.#url = url
    this.#name = name
    this.#channels = channels
  }

  /** Connects; a failure is tried again in the background, since listening only makes things quicker. */
  async open(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: `${this.#name} listen`,
      keepAlive: true,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
    })
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ channel, payload }) => this.#channels[channel]?.heard(payload ?? ''))
    this.#client = client
    try {
      await client.connect()
      for (const channel of Object.keys(this.#channels)) await client.query(`listen ${client.escapeIdentifier(channel)}`)
      for (const { missed } of Object.values(this.#channels)) missed()
      this.#asking = setInterval(() => client.query('select').catch(() => this.#lost(client)), askEveryMs)
    } catch {
      this.#lost(client)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    clearInterval(this.#asking)
    await this.#client?.end().catch(() => undefined)
  }

  #lost(client: pg.Client): void {
    if (this.#closed || this.#client !== client) return
    this.#client = undefined
    clearInterval(this.#asking)
    client.end().catch(() => undefined)
    this.#retry = setTimeout(() => void this.open(), 500)
  }
}
