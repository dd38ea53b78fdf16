import { setTimeout as delay } from 'node:timers/promises'
import { makeSecret } from '#shared/features/webhooks/signing.ts'
import { parseEndpoint } from '#shared/platform/egress/endpoint.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { StreamPart } from '../client/event-stream.ts'
import { type ApiTarget, findTarget, type TargetOptions } from '../client/target.ts'
import type { Shell } from '../shell.ts'
import { createForwarder, type Forwarder } from './forward.ts'

interface ListenOptions extends TargetOptions {
  readonly forward: string
  readonly types?: string | undefined
}

/** Milliseconds before the next connection, until a stream says another wait. */
const defaultRetryMs = 2_000

/**
 * Sends the events of a workspace to an address, those from now on, until the shell interrupts. Connections that break are followed by others,
 * which go on after the last event that was sent. Throws what the API refuses, except that it is busy.
 */
export async function listenForEvents({ forward, types, ...options }: ListenOptions, shell: Shell): Promise<void> {
  requireAddress(forward)
  const { api, orgId } = await findTarget(options, shell.environment)
  const query = types === undefined ? '' : `types=${encodeURIComponent(types)}`
  const path = `/orgs/${orgId}/events?${query}`
  // A stream tells a position with its first event, so one that broke before would not know where to go on.
  const { feed, last_seq } = await api.get<{ feed: string; last_seq: number }>(`${path}&limit=1`)
  const signal = shell.interruption()
  const secret = makeSecret()
  shell.printResult(
    [{ secret, after: last_seq }],
    [`${secret}  signs what is sent to ${forward} by this command.`, `Events after ${last_seq} are sent, one after the other, each once.`],
  )
  await new Listener(api, path, createForwarder(forward, secret, signal), shell, signal).follow(`${feed}:${last_seq}`)
}

/** Throws VALIDATION_ERROR for what is no address of a receiver. */
function requireAddress(forward: string): void {
  try {
    parseEndpoint(forward)
  } catch (error) {
    if (!(error instanceof EgressFailure)) throw error
    throw problem('VALIDATION_ERROR', `--forward must be an address such as http://localhost:4000, got ${forward}: ${error.message}`)
  }
}

/** Follows the stream of a workspace over as many connections as it needs. */
class Listener {
  readonly #api: ApiTarget['api']
  readonly #path: string
  readonly #forward: Forwarder
  readonly #shell: Shell
  readonly #signal: AbortSignal
  #position = ''
  #retryMs = defaultRetryMs
  /** Why there is no stream; undefined while there is one. */
  #outage: string | undefined

  constructor(api: ApiTarget['api'], path: string, forward: Forwarder, shell: Shell, signal: AbortSignal) {
    this.#api = api
    this.#path = path
    this.#forward = forward
    this.#shell = shell
    this.#signal = signal
  }

  async follow(position: string): Promise<void> {
    this.#position = position
    while (!this.#signal.aborted) {
      const waitMs = await this.#connect()
      await delay(waitMs, undefined, { signal: this.#signal }).catch(() => undefined)
    }
  }

  /** Reads one stream to its end. Returns how long to wait before the next one, in milliseconds. */
  async #connect(): Promise<number> {
    try {
      for await (const part of this.#api.follow(this.#path, this.#position, this.#signal)) await this.#take(part)
      this.#report('the stream ended')
      return this.#retryMs
    } catch (error) {
      if (this.#signal.aborted) return 0
      if (!(error instanceof Problem) || !isPassing(error)) throw error
      this.#report(error.message)
      return Math.max(this.#retryMs, 1_000 * (Number(error.headers['Retry-After']) || 0))
    }
  }

  async #take({ id, event, data = 'null', retry }: StreamPart): Promise<void> {
    if (this.#outage !== undefined) this.#say(`Connected again, after ${this.#seq}.`)
    this.#outage = undefined
    if (retry !== undefined) this.#retryMs = Number(retry)
    if (event === 'resync') this.#sayResync(id, data)
    else if (event !== undefined && event !== 'seen') {
      const { value, line } = await this.#forward(data)
      this.#shell.printResult([value], [line])
    }
    if (id !== undefined) this.#position = id
  }

  #sayResync(id: string | undefined, data: string): void {
    const { oldest_seq } = JSON.parse(data) as { oldest_seq: number }
    const lost = this.#seq
    this.#position = id ?? this.#position
    this.#say(
      `resync: the events between ${lost} and ${this.#seq} are not sent. They are too old to be kept (the oldest kept is ${oldest_seq}), or the workspace ` +
        `was restored or imported and its list began anew. A receiver reads the present state; the next event is that after ${this.#seq}.`,
    )
  }

  get #seq(): string {
    return this.#position.slice(this.#position.indexOf(':') + 1)
  }

  #report(reason: string): void {
    if (reason !== this.#outage) this.#say(`Without a stream, and connecting again after ${this.#seq}: ${reason}`)
    this.#outage = reason
  }

  #say(line: string): void {
    this.#shell.terminal.write(`${line}\n`)
  }
}

/** Whether a refusal may be over after a while: the server cannot be reached, fails, or has too many streams. */
const isPassing = ({ code, status }: Problem): boolean => status >= 500 || code === 'RATE_LIMITED'
