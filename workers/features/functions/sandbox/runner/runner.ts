import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Duplex } from 'node:stream'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { LaunchCommand } from '#workers/features/functions/sandbox/runner/confinement.ts'
import { createFrameReader, encodeFrame, type Frame } from '#workers/features/functions/sandbox/runner/frames.ts'
import { toWorker, workerAccepts } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** Who gave a runner its order. */
export interface RunnerClient {
  /** Hears every frame until the runner stands ready again. Throwing kills the runner. */
  readonly receive: (frame: Frame) => void
  /** The runner's process has ended before that. */
  readonly onLost: () => void
}

/**
 * Priorities of processes. To raise one again takes a right that a worker seldom has. A tenth of what others get is little enough for
 * endless functions; at the lowest, 19, a run of 0.2 s of processor time had not ended after 60 s on a core that was wanted otherwise.
 */
const [normal, behind] = [0, 10]

const nobody: RunnerClient = Object.freeze({ receive: () => undefined, onLost: () => undefined })

/** One runner process: it stands ready, has one order, stands ready again, and ends by SIGKILL. It holds nothing of the worker. */
export class Runner {
  readonly pid: number
  /** Fulfilled when the process is gone. Never rejects. */
  readonly gone: Promise<void>
  readonly #child: ChildProcess
  readonly #pipe: Duplex
  readonly #mayPause: boolean
  #giver = nobody
  #ready = Promise.withResolvers<boolean>()
  #isEnding = false
  #newBytes = 0
  #restingBytes = 0
  #restingMs = 0
  #hasGivenWay = false
  #lastWords = ''

  constructor({ command, args, diesWithWorker }: LaunchCommand, program: string) {
    this.#mayPause = diesWithWorker
    this.#child = spawn(command, args, { env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'pipe', 'pipe'] })
    this.pid = this.#child.pid ?? 0
    this.#child.on('error', () => undefined)
    this.gone = this.#end()
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString('latin1')).slice(-2_000)
    })
    this.#child.stdin?.on('error', () => undefined).end(program)
    this.#pipe = this.#child.stdio[3] as Duplex
    const read = createFrameReader(workerAccepts, (frame) => this.#take(frame))
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
  get stderrTail(): string {
    return this.#lastWords
  }

  /** Gives a runner that stands ready its order. */
  order(kind: number, text: string, giver: RunnerClient): void {
    if (this.#isEnding) {
      giver.onLost()
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

  /** Milliseconds of processor time that the process has used since it last stood ready; 0 where the system does not say. */
  busyMs(): number {
    return this.#processorMs() - this.#restingMs
  }

  /** Lets every process that is not as busy go before this one, until its order is done. */
  lowerPriority(): void {
    if (this.#hasGivenWay) return
    this.#hasGivenWay = true
    this.#setPriority(behind)
  }

  /** Lets it stand still. One that would outlive its worker goes on: nobody would wake it. */
  pause(): void {
    if (this.#mayPause) this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** Whether another had better take its place: it holds much of what earlier runs used, or does not come to the front again. */
  isWorn(): boolean {
    const gaveWay = this.#hasGivenWay
    this.#hasGivenWay = false
    return this.#restingBytes > this.#newBytes + runnerLimits.keptBytes || (gaveWay && !this.#setPriority(normal))
  }

  #take(frame: Frame): void {
    if (this.#isEnding) return
    if (frame.kind !== toWorker.ready) {
      this.#giver.receive(frame)
      return
    }
    this.#restingBytes = this.#residentBytes()
    this.#newBytes ||= this.#restingBytes
    this.#restingMs = this.#processorMs()
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

  // Fields 14 and 15 of stat, counted behind the name, which may hold anything: user and system time in hundredths of a second.
  #processorMs(): number {
    try {
      const fields = readFileSync(`/proc/${this.pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
      return 10 * (Number(fields[11]) + Number(fields[12]))
    } catch {
      return 0
    }
  }

  /** Linux gives each thread a priority of its own, and the function runs on one of many. False where it may not be set. */
  #setPriority(priority: number): boolean {
    try {
      for (const thread of readdirSync(`/proc/${this.pid}/task`)) setPriority(Number(thread), priority)
      return true
    } catch {
      return false
    }
  }

  async #end(): Promise<void> {
    try {
      await once(this.#child, 'close')
    } catch (error) {
      this.#lastWords = String(error)
    }
    this.#isEnding = true
    this.#giver.onLost()
    this.#ready.resolve(false)
  }
}
