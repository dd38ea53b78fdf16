import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import type { Launch } from '#workers/functions/sandbox/confinement.ts'
import { encodeFrame, type Frame, frameReader } from '#workers/functions/sandbox/frames.ts'
import { watch } from '#workers/functions/sandbox/limits.ts'
import { toWorker, workerAccepts } from '#workers/functions/sandbox/protocol.ts'

/** Who gave a runner its order. */
export interface OrderGiver {
  /** Hears every frame until the runner stands ready again. Throwing kills the runner. */
  readonly hear: (frame: Frame) => void
  /** The runner's process has ended before that. */
  readonly lose: () => void
}

const nobody: OrderGiver = Object.freeze({ hear: () => undefined, lose: () => undefined })

/** One runner process: it stands ready, has one order, stands ready again, and ends by SIGKILL. It holds nothing of the worker. */
export class Runner {
  readonly pid: number
  /** Fulfilled when the process is gone. Never rejects. */
  readonly gone: Promise<void>
  readonly #child: ChildProcess
  readonly #pipe: Duplex
  #giver = nobody
  #ready = Promise.withResolvers<boolean>()
  #isEnding = false
  #newBytes = 0
  #restingBytes = 0
  #lastWords = ''

  constructor({ command, rest }: Launch, program: string) {
    this.#child = spawn(command, rest, { env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'pipe', 'pipe'] })
    this.pid = this.#child.pid ?? 0
    this.#child.on('error', () => undefined)
    this.gone = this.#end()
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString('latin1')).slice(-2_000)
    })
    this.#child.stdin?.on('error', () => undefined).end(program)
    this.#pipe = this.#child.stdio[3] as Duplex
    const read = frameReader(workerAccepts, (frame) => this.#take(frame))
    this.#pipe
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        try {
          read(chunk)
        } catch (error) {
          this.#lastWords = String(error)
          this.kill()
        }
      })
  }

  /** Fulfilled with true when the runner stands ready with a fresh isolate, with false when its process ends before that. */
  get ready(): Promise<boolean> {
    return this.#isEnding ? Promise.resolve(false) : this.#ready.promise
  }

  /** The end of what the process wrote to standard error, or what it did that it may not do. */
  get lastWords(): string {
    return this.#lastWords
  }

  /** Gives a runner that stands ready its order. */
  order(kind: number, text: string, giver: OrderGiver): void {
    if (this.#isEnding) {
      giver.lose()
      return
    }
    this.#giver = giver
    this.#ready = Promise.withResolvers()
    this.send(kind, 0, text)
  }

  send(kind: number, number: number, text: string): void {
    this.#pipe.write(encodeFrame(kind, number, text))
  }

  kill(): void {
    this.#isEnding = true
    this.#child.kill('SIGKILL')
  }

  /** Bytes that the process holds above what it held when it last stood ready; 0 where the system does not say. */
  grownBytes(): number {
    return this.#residentBytes() - this.#restingBytes
  }

  /** Whether it holds so much of what earlier runs used that it had better be replaced. */
  hasKeptMemory(): boolean {
    return this.#restingBytes > this.#newBytes + watch.keptBytes
  }

  #take(frame: Frame): void {
    if (this.#isEnding) return
    if (frame.kind !== toWorker.ready) {
      this.#giver.hear(frame)
      return
    }
    this.#restingBytes = this.#residentBytes()
    this.#newBytes ||= this.#restingBytes
    this.#giver = nobody
    this.#ready.resolve(true)
  }

  // Field two of statm counts resident pages of 4 KB (Linux; elsewhere only the isolate's own limit holds).
  #residentBytes(): number {
    try {
      return Number(readFileSync(`/proc/${this.pid}/statm`, 'latin1').split(' ')[1]) * 4096
    } catch {
      return 0
    }
  }

  async #end(): Promise<void> {
    try {
      await once(this.#child, 'close')
    } catch (error) {
      this.#lastWords = String(error)
    }
    this.#isEnding = true
    this.#giver.lose()
    this.#ready.resolve(false)
  }
}
