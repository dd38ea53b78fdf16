import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Bytes of bodies that are still arriving, in the memory of a process: some sixty of the largest. */
const maxBodyMemoryBytes = 64 * 1024 * 1024

/** A body that is still arriving. */
export interface HeldBody {
  /** Counts bytes that were read into memory. */
  readonly hold: (bytes: number) => void
  /** Ends the body: it is complete, or no longer held. */
  readonly release: () => void
}

/** Opens a body; `refuse` is called at most once, and the bytes must then be dropped. */
export type OpenBody = (refuse: (reason: Problem) => void) => HeldBody

interface OpenedBody {
  bytes: number
  readonly refuse: (reason: Problem) => void
}

/** Open bodies of one client, oldest first, with their bytes. */
interface Client {
  bytes: number
  readonly bodies: Set<OpenedBody>
}

/**
 * Bounds the memory of bodies that are still arriving. When it is full, the client that holds most loses its oldest bodies. So clients that
 * send slowly keep nobody out: the body of another client needs a moment, and is neither the oldest nor one of many.
 */
export class BodyMemory {
  readonly #maxBytes: number
  readonly #clients = new Map<string, Client>()
  #bytes = 0

  constructor(maxBytes = maxBodyMemoryBytes) {
    this.#maxBytes = maxBytes
  }

  /** Opens a body of a client. */
  open(key: string, refuse: (reason: Problem) => void): HeldBody {
    const client = this.#clients.get(key) ?? { bytes: 0, bodies: new Set() }
    this.#clients.set(key, client)
    const body: OpenedBody = { bytes: 0, refuse }
    client.bodies.add(body)
    return {
      hold: (bytes) => {
        if (!client.bodies.has(body)) return
        this.#add(client, body, bytes)
        while (this.#bytes > this.#maxBytes) this.#refuseOldest()
      },
      release: () => this.#close(key, client, body),
    }
  }

  #add(client: Client, body: OpenedBody, bytes: number): void {
    body.bytes += bytes
    client.bytes += bytes
    this.#bytes += bytes
  }

  #close(key: string, client: Client, body: OpenedBody): void {
    if (!client.bodies.delete(body)) return
    this.#add(client, body, -body.bytes)
    if (client.bodies.size === 0) this.#clients.delete(key)
  }

  #refuseOldest(): void {
    let [largestKey, largest]: [string, Client | undefined] = ['', undefined]
    for (const [key, client] of this.#clients) if (!largest || client.bytes > largest.bytes) [largestKey, largest] = [key, client]
    for (const oldest of largest?.bodies ?? []) {
      if (oldest.bytes === 0) continue
      this.#close(largestKey, largest as Client, oldest)
      oldest.refuse(problem('OVERLOADED', 'Too many bodies are arriving slowly; send this one again soon', { expected: true }))
      return
    }
  }
}
