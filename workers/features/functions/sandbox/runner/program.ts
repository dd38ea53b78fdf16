import type { Socket } from 'node:net'
import type { parse as Parse } from 'acorn'
import type ivm from 'isolated-vm'
import { maxJsonDepth } from '#shared/platform/kernel/values/json.ts'
import { type GuestEntries, guestText } from '#workers/features/functions/sandbox/guest/guest.ts'
import type { Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import { createFrameReader, encodeFrame, type Frame } from '#workers/features/functions/sandbox/runner/frames.ts'
import { findHandlerProblem, noHandlerProblem, type SourceProblem } from '#workers/features/functions/sandbox/runner/handler-check.ts'
import { runnerAccepts, toRunner, toWorker } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** The files that a runner may read: the native addon of isolated-vm, and the parser for checks of sources. */
export interface RunnerFiles {
  readonly addon: string
  readonly parser: string
}
interface ProgramSetup {
  readonly files: RunnerFiles
  readonly memoryMb: number
  readonly guestText: string
  readonly problemCharacters: number
  readonly maxDepth: number
  readonly noHandler: SourceProblem
  readonly toRunner: typeof toRunner
  readonly toWorker: typeof toWorker
  readonly accepts: typeof runnerAccepts
}
/** A fresh isolate with references to its entries. The function never gets an isolated-vm object. */
interface RunIsolate {
  readonly isolate: ivm.Isolate
  readonly entries: { readonly [Name in keyof GuestEntries]: ivm.Reference<GuestEntries[Name]> }
  readonly timers: Set<NodeJS.Timeout>
  ended: boolean
}

const parts = { encodeFrame, createFrameReader, findHandlerProblem, findResultProblem }
type ProgramParts = typeof parts & { readonly process: NodeJS.Process; readonly require: NodeJS.Require }

/**
 * Returns the program that a runner reads from standard input: the texts of `runner` and of the functions in `parts`. These are ordinary
 * functions, so they are type-checked, but they may refer to nothing outside themselves except their parameters. A runner then needs neither
 * files of the platform nor Node's type stripping, which would cost 20 MB and 30 ms per runner.
 */
export function programText(files: RunnerFiles, memoryMb: number): string {
  const { problemCharacters } = runLimits
  const other = { problemCharacters, maxDepth: maxJsonDepth, noHandler: noHandlerProblem, toRunner, toWorker, accepts: runnerAccepts }
  const setup: ProgramSetup = { files, memoryMb, guestText: guestText(), ...other }
  const partsText = Object.entries(parts).map(([name, part]) => `${name}: ${part}`)
  return `'use strict';(${runner})(${JSON.stringify(setup)}, { process, require, ${partsText.join(', ')} })`
}

function runner(
  setup: ProgramSetup,
  { process, require, encodeFrame, createFrameReader, findHandlerProblem, findResultProblem }: ProgramParts,
): void {
  const { toRunner, toWorker } = setup
  const addon = { exports: {} as { ivm: typeof ivm } }
  process.dlopen(addon, setup.files.addon)
  const { Callback, Isolate } = addon.exports.ivm
  const { Socket: Pipe } = require('node:net') as { Socket: typeof Socket }

  process.title = 'kontor-function-runner'
  process.env.TZ = 'UTC'
  // Signals to the process group are for the worker, which may still wait for this run. Only SIGKILL ends a runner.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
  const end = () => process.kill(process.pid, 'SIGKILL')

  const pipe = new Pipe({ fd: 3, readable: true, writable: true })
  for (const event of ['end', 'close', 'error']) pipe.on(event, end)
  const send = (kind: number, number = 0, text = ''): void => {
    pipe.write(encodeFrame(kind, number, text))
  }

  const createIsolate = (): RunIsolate => {
    // Without this handler V8 aborts the process when it is out of memory. With it only the isolate's thread stops, for good.
    const isolate = new Isolate({ memoryLimit: setup.memoryMb, onCatastrophicError: () => send(toWorker.memory) })
    const post: Post = (kind, number, text) => {
      if (run.ended) return
      if (kind === toWorker.timer) return startTimer(run, number, Number(text))
      const problem = kind === toWorker.returned ? findResultProblem(text, setup.maxDepth) : null
      if (problem === null) send(kind, number, text)
      else send(toWorker.threw, 0, problem)
      if (kind === toWorker.done) void renew(run)
    }
    const callback = new Callback(post, { ignored: true })
    const guest = isolate.createContextSync().evalClosureSync(setup.guestText, [callback], { result: { reference: true } })
    const entry = (name: string) => guest.getSync(name, { reference: true })
    const entries = { begin: entry('begin'), complete: entry('complete'), fire: entry('fire'), noop: entry('noop') }
    const run: RunIsolate = { isolate, entries: entries as RunIsolate['entries'], timers: new Set(), ended: false }
    return run
  }

  const enter = async (run: RunIsolate, name: keyof GuestEntries, values: readonly (string | number | boolean)[] = []): Promise<void> => {
    try {
      await (run.entries[name] as ivm.Reference<(...values: unknown[]) => void>).apply(undefined, [...values])
    } catch {
      // An unhandled rejection of the function has no effect. An isolate that was disposed before its run ended is out of memory.
      if (!run.ended && run.isolate.isDisposed) send(toWorker.memory)
    }
  }

  const startTimer = (run: RunIsolate, number: number, delayMs: number): void => {
    const timer = setTimeout(() => {
      run.timers.delete(timer)
      void enter(run, 'fire', [number])
    }, delayMs)
    run.timers.add(timer)
  }

  // `enter` waits until no code of the old run occupies the isolate's thread. If such code never ends, the worker kills this process.
  const renew = async (run: RunIsolate): Promise<void> => {
    run.ended = true
    for (const timer of run.timers) clearTimeout(timer)
    await enter(run, 'noop')
    if (!run.isolate.isDisposed) run.isolate.dispose()
    current = createIsolate()
    send(toWorker.ready)
  }

  const check = async (source: string): Promise<void> => {
    const { parse } = require(setup.files.parser) as { parse: typeof Parse }
    const found = (await syntaxProblem(source)) ?? findHandlerProblem(parse, source, setup.noHandler)
    const problem = found === undefined ? await declarationProblem(source) : found
    send(toWorker.checked, 0, problem ? JSON.stringify(problem) : '')
    await renew(current)
  }

  // For a source that acorn cannot parse: if it compiles with a second declaration of `handler` appended, it declares none itself.
  const declarationProblem = async (source: string): Promise<SourceProblem | null> => {
    return (await syntaxProblem(`${source}\n;let handler`)) ? null : setup.noHandler
  }

  // Compiles without executing. The engine's message ends with the position: "Unexpected token ')' [function.js:1:5]".
  const syntaxProblem = async (source: string): Promise<SourceProblem | null> => {
    try {
      await current.isolate.compileScript(source, { filename: 'function.js' })
      return null
    } catch (error) {
      const [, message = '', line = 1, column = 1] = /^(.*?)(?: \[\S*?:(\d+):(\d+)\])?$/s.exec((error as Error).message) ?? []
      return {
        line: Math.max(1, Number(line)),
        column: Math.max(1, Number(column)),
        message: message.slice(0, setup.problemCharacters),
      }
    }
  }

  const orders: Record<number, (frame: Frame) => void> = {
    [toRunner.run]: ({ number, text }) => {
      const lineEnd = text.indexOf('\n', number)
      send(toWorker.started)
      void enter(current, 'begin', [text.slice(0, number), text.slice(number, lineEnd), text.slice(lineEnd + 1)])
    },
    [toRunner.check]: ({ text }) => void check(text),
    [toRunner.answer]: ({ number, text }) => void enter(current, 'complete', [number, true, text]),
    [toRunner.refusal]: ({ number, text }) => void enter(current, 'complete', [number, false, text]),
  }
  let current = createIsolate()
  const read = createFrameReader(setup.accepts, (frame) => orders[frame.kind]?.(frame))
  pipe.on('data', read)
  send(toWorker.ready)
}

/**
 * Checks a result by the rules of stored JSON: at most `maxDepth` levels, and neither NUL characters nor lone surrogates, which
 * JSON.stringify writes as escapes. Returns the problem, or null.
 */
function findResultProblem(json: string, maxDepth: number): string | null {
  if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)) return 'the result holds a NUL character or a lone surrogate'
  let depth = 0
  let isInString = false
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (isInString && character === '\\') index += 1
    else if (character === '"') isInString = !isInString
    else if (isInString) continue
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > maxDepth) return `the result is nested deeper than ${maxDepth} levels`
  }
  return null
}
