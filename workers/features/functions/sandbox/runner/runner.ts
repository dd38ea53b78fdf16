import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Duplex } from 'node:stream'
import { runnerLimits } from '#workers/features/functions/sandbox/limits.ts'
import { confinement, type LaunchCommand } from '#workers/features/functions/sandbox/runner/confinement.ts'
import { createFrameReader, encodeFrame, type Frame } from '#workers/features/functions/sandbox/runner/frames.ts'
import { toWorker, workerAccepts } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** Receives what happens to an order. */
interface RunnerClient {
  /** Receives every frame until the runner is ready again. If it throws, the runner is killed. */
  readonly receive: (frame: Frame) => void
  /** Called if the process ends before the runner is ready again. */
  readonly onLost: () => void
}

/**
 * Nice values of runners: normal, and with low priority. Raising a priority again needs a right that workers seldom have. 10 gives endless
 * functions about a tenth of the CPU of other processes; at 19, a run that needed 0.2 s of CPU time had not ended after 60 s on a busy
 * core.
 */
const [normalNice, lowNice] = [0, 10]

const noClient: RunnerClient = Object.freeze({ receive: () => undefined, onLost: () => undefined })

/** A runner process. It becomes ready, executes one order, becomes ready again, and ends by SIGKILL. It has no access to the worker. */
export class Runner {
  readonly pid: number
  /** Fulfilled when the process is gone. Never rejects. */
  readonly gone: Promise<void>
  readonly #child: ChildProcess
  readonly #pipe: Duplex
  readonly #mayPause: boolean
  #client = noClient
  #ready = Promise.withResolvers<boolean>()
  #isEnding = false
  /** Resident bytes when the process was new, and when it was last ready. */
  #newBytes = 0
  #readyBytes = 0
  /** CPU time when the process was last ready. */
  #readyMs = 0
  #hasLowPriority = false
  #stderrTail = ''

  constructor({ command, args, diesWithWorker }: LaunchCommand, program: string) {
    this.#mayPause = diesWithWorker
    this.#child = spawn(command, args, { env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'pipe', 'pipe'] })
    this.pid = this.#child.pid ?? 0
    this.#child.on('error', () => undefined)
    this.gone = this.#awaitEnd()
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderrTail = (this.#stderrTail + chunk.toString('latin1')).slice(-2_000)
    })
    this.#child.stdin?.on('error', () => undefined).end(program)
    this.#pipe = this.#child.stdio[3] as Duplex
    const read = createFrameReader(workerAccepts, (frame) => this.#receive(frame))
    this.#pipe
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        try {
          read(chunk)
        } catch (error) {
          this.#stderrTail = String(error)
          this.kill()
        }
      })
  }

  /** Fulfilled with true when the runner is ready with a fresh isolate, with false when its process ends before. */
  get ready(): Promise<boolean> {
    return this.#isEnding ? Promise.resolve(false) : this.#ready.promise
  }

  /** The last 2,000 characters of standard error, or the violation of the protocol for which the runner was killed. */
  get stderrTail(): string {
    return this.#stderrTail
  }

  /** Gives an order to a ready runner. */
  order(kind: number, number: number, text: string, client: RunnerClient): void {
    if (this.#isEnding) {
      client.onLost()
      return
    }
    this.#client = client
    this.#ready = Promise.withResolvers()
    this.send(kind, number, text)
  }

  send(kind: number, number: number, text: string): void {
    this.#pipe.write(encodeFrame(kind, number, text))
  }

  kill(): void {
    this.#isEnding = true
    this.#child.kill('SIGKILL')
  }

  /** Growth of the resident memory since the runner was last ready, in bytes; 0 where the system does not report it. */
  grownBytes(): number {
    return this.#residentBytes() - this.#readyBytes
  }

  /** CPU time of the process, in milliseconds; 0 where the system does not report it, and once the process has ended. */
  cpuMs(): number {
    try {
      // Fields 14 and 15 of stat, counted from the end of the process name, which may contain anything: user and system time in 1/100 s.
      const fields = readFileSync(`/proc/${this.pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
      return 10 * (Number(fields[11]) + Number(fields[12]))
    } catch {
      return 0
    }
  }

  /** CPU time since the runner was last ready, in milliseconds; 0 where the system does not report it. */
  busyMs(): number {
    return this.cpuMs() - this.#readyMs
  }

  /** Lowers the priority of the process. `isWorn`, called after the order, raises it again. */
  lowerPriority(): void {
    if (this.#hasLowPriority) return
    this.#hasLowPriority = true
    this.#setNice(lowNice)
  }

  /** Pauses the process. A process that would outlive its worker is not paused, because nothing would resume it. */
  pause(): void {
    if (this.#mayPause) this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** Whether the runner should be replaced: it holds much memory of earlier runs, or its priority cannot be raised again. */
  isWorn(): boolean {
    const hadLowPriority = this.#hasLowPriority
    this.#hasLowPriority = false
    return this.#readyBytes > this.#newBytes + runnerLimits.keptBytes || (hadLowPriority && !this.#setNice(normalNice))
  }

  #receive(frame: Frame): void {
    if (this.#isEnding) return
    if (frame.kind !== toWorker.ready) {
      this.#client.receive(frame)
      return
    }
    this.#readyBytes = this.#residentBytes()
    this.#newBytes ||= this.#readyBytes
    this.#readyMs = this.cpuMs()
    this.#client = noClient
    this.#ready.resolve(true)
  }

  // Field 2 of statm counts resident pages (Linux; elsewhere only the memory limit of the isolate applies).
  #residentBytes(): number {
    try {
      return Number(readFileSync(`/proc/${this.pid}/statm`, 'latin1').split(' ')[1]) * confinement().pageBytes
    } catch {
      return 0
    }
  }

  /** Sets the nice value of every thread, since Linux has one per thread. Returns false where it may not be set. */
  #setNice(value: number): boolean {
    try {
      for (const thread of readdirSync(`/proc/${this.pid}/task`)) setPriority(Number(thread), value)
      return true
    } catch {
      return false
    }
  }

  async #awaitEnd(): Promise<void> {
    try {
      await once(this.#child, 'close')
    } catch (error) {
      this.#stderrTail = String(error)
    }
    this.#isEnding = true
    this.#client.onLost()
    this.#ready.resolve(false)
  }
}
