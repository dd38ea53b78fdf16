import pg from 'pg'

interface Subscriber {
  /** Called with each notification's payload. */
  readonly receive: (payload: string) => void
  /** Called after every (re)connection: notifications may have been missed, so check the state. */
  readonly missed: () => void
}

/** The interval of queries that test the connection: a connection that only listens would not notice a silent network failure. */
const pingEveryMs = 10_000
/** The connection is replaced when a query takes longer. */
const queryTimeoutMs = 5_000

/** A process's LISTEN connection. It reconnects by itself until it is closed. */
export class NotificationListener {
  readonly #url: string
  readonly #name: string
  readonly #channels: Readonly<Record<string, Subscriber>>
  #client: pg.Client | undefined
  #retry: NodeJS.Timeout | undefined
  #ping: NodeJS.Timeout | undefined
  #closed = false

  constructor(url: string, name: string, channels: Readonly<Record<string, Subscriber>>) {
    this.#url = url
    this.#name = name
    this.#channels = channels
  }

  /** Whether its connection is open. */
  get isOpen(): boolean {
    return this.#ping !== undefined
  }

  /** Connects. A failure is retried in the background: notifications only save polling time. */
  async open(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: `${this.#name} listen`,
      keepAlive: true,
      connectionTimeoutMillis: queryTimeoutMs,
      query_timeout: queryTimeoutMs,
    })
    client.on('error', () => this.#reconnect(client))
    client.on('end', () => this.#reconnect(client))
    client.on('notification', ({ channel, payload }) => this.#channels[channel]?.receive(payload ?? ''))
    this.#client = client
    try {
      await client.connect()
      for (const channel of Object.keys(this.#channels)) await client.query(`listen ${client.escapeIdentifier(channel)}`)
      for (const { missed } of Object.values(this.#channels)) missed()
      this.#ping = setInterval(() => client.query('select').catch(() => this.#reconnect(client)), pingEveryMs)
    } catch {
      this.#reconnect(client)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    clearInterval(this.#ping)
    await this.#client?.end().catch(() => undefined)
  }

  #reconnect(client: pg.Client): void {
    if (this.#closed || this.#client !== client) return
    this.#client = undefined
    clearInterval(this.#ping)
    this.#ping = undefined
    client.end().catch(() => undefined)
    this.#retry = setTimeout(() => void this.open(), 500)
  }
}
