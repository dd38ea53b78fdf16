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
import { findResultProblem } from '#workers/features/functions/sandbox/runner/result-check.ts'

/** The files that a runner may read: the compiled part of isolated-vm and the parser that checks sources. */
export interface RunnerFiles {
  readonly addon: string
  readonly parser: string
}
interface ProgramSetup {
  readonly files: RunnerFiles
  readonly memoryMb: number
  readonly guestText: string
  readonly problemCharacters: number
  readonly deepest: number
  readonly noHandler: SourceProblem
  readonly toRunner: typeof toRunner
  readonly toWorker: typeof toWorker
  readonly accepts: typeof runnerAccepts
}
interface ProgramParts {
  readonly process: NodeJS.Process
  readonly require: NodeJS.Require
  readonly encodeFrame: typeof encodeFrame
  readonly frameReader: typeof createFrameReader
  readonly handlerProblem: typeof findHandlerProblem
  readonly resultProblem: typeof findResultProblem
}
/** One fresh isolate and the references into it. They stay on this side: no isolated-vm object reaches the function. */
interface Cell {
  readonly isolate: ivm.Isolate
  readonly entries: { readonly [Name in keyof GuestEntries]: ivm.Reference<GuestEntries[Name]> }
  readonly timers: Set<NodeJS.Timeout>
  ended: boolean
}

/**
 * The text of the program that a runner process is given on its standard input. The functions below go there by their own text, so they
 * name nothing outside themselves: so written they are type-checked here, and the runner needs neither a file of ours nor Node's type
 * stripping, which would cost every runner 20 MB and 30 ms.
 */
export function programText(files: RunnerFiles, memoryMb: number): string {
  const { problemCharacters } = runLimits
  const other = { problemCharacters, deepest: maxJsonDepth, noHandler: noHandlerProblem, toRunner, toWorker, accepts: runnerAccepts }
  const setup: ProgramSetup = { files, memoryMb, guestText: guestText(), ...other }
  const parts = { encodeFrame, frameReader: createFrameReader, handlerProblem: findHandlerProblem, resultProblem: findResultProblem }
  const partsText = Object.entries(parts).map(([name, part]) => `${name}: ${part}`)
  return `'use strict';(${runner})(${JSON.stringify(setup)}, { process, require, ${partsText.join(', ')} })`
}

function runner(setup: ProgramSetup, parts: ProgramParts): void {
  const { process, require, encodeFrame, frameReader, handlerProblem, resultProblem } = parts
  const { toRunner, toWorker } = setup
  const addon = { exports: {} as { ivm: typeof ivm } }
  process.dlopen(addon, setup.files.addon)
  const { Callback, Isolate } = addon.exports.ivm
  const { Socket: Pipe } = require('node:net') as { Socket: typeof Socket }

  process.title = 'kontor-function-runner'
  process.env.TZ = 'UTC'
  // A signal to the whole process group is for the worker, which may still wait for this run. SIGKILL is how a runner ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
  const end = () => process.kill(process.pid, 'SIGKILL')

  const pipe = new Pipe({ fd: 3, readable: true, writable: true })
  for (const event of ['end', 'close', 'error']) pipe.on(event, end)
  const send = (kind: number, number = 0, text = ''): void => {
    pipe.write(encodeFrame(kind, number, text))
  }

  const makeCell = (): Cell => {
    // With a handler V8 does not abort when it is out of memory: the isolate's thread stops for good and the worker is told.
    const isolate = new Isolate({ memoryLimit: setup.memoryMb, onCatastrophicError: () => send(toWorker.memory) })
    const post: Post = (kind, number, text) => {
      if (cell.ended) return
      if (kind === toWorker.timer) return arm(cell, number, Number(text))
      const problem = kind === toWorker.returned ? resultProblem(text, setup.deepest) : null
      if (problem === null) send(kind, number, text)
      else send(toWorker.threw, 0, problem)
      if (kind === toWorker.quiet) void renew(cell)
    }
    const out = new Callback(post, { ignored: true })
    const made = isolate.createContextSync().evalClosureSync(setup.guestText, [out], { result: { reference: true } })
    const entry = (name: string) => made.getSync(name, { reference: true })
    const entries = { begin: entry('begin'), settle: entry('settle'), fire: entry('fire'), nothing: entry('nothing') }
    const cell: Cell = { isolate, entries: entries as Cell['entries'], timers: new Set(), ended: false }
    return cell
  }

  const enter = async (cell: Cell, name: keyof GuestEntries, values: readonly (string | number | boolean)[] = []): Promise<void> => {
    try {
      await (cell.entries[name] as ivm.Reference<(...values: unknown[]) => void>).apply(undefined, [...values])
    } catch {
      // What was thrown is the function's, an unhandled rejection at most, and is not looked at. A disposed isolate ran out of memory.
      if (!cell.ended && cell.isolate.isDisposed) send(toWorker.memory)
    }
  }

  const arm = (cell: Cell, number: number, delayMs: number): void => {
    const timer = setTimeout(() => {
      cell.timers.delete(timer)
      void enter(cell, 'fire', [number])
    }, delayMs)
    cell.timers.add(timer)
  }

  // Waits until nothing of the old run is on its thread any more. If that never comes true the worker ends this process.
  const renew = async (cell: Cell): Promise<void> => {
    cell.ended = true
    for (const timer of cell.timers) clearTimeout(timer)
    await enter(cell, 'nothing')
    if (!cell.isolate.isDisposed) cell.isolate.dispose()
    current = makeCell()
    send(toWorker.ready)
  }

  const check = async (source: string): Promise<void> => {
    const { parse } = require(setup.files.parser) as { parse: typeof Parse }
    const found = (await syntaxProblem(source)) ?? handlerProblem(parse, source, setup.noHandler)
    const problem = found === undefined ? await undeclaredProblem(source) : found
    send(toWorker.checked, 0, problem ? JSON.stringify(problem) : '')
    await renew(current)
  }

  // What the engine compiles with one more declaration of handler behind it has none of its own.
  const undeclaredProblem = async (source: string): Promise<SourceProblem | null> => {
    return (await syntaxProblem(`${source}\n;let handler`)) ? null : setup.noHandler
  }

  // Compiles and does not run. The engine's message ends with the place: "Unexpected token ')' [function.js:1:5]".
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
    [toRunner.run]: ({ text }) => {
      const [source, input, methods] = JSON.parse(text)
      send(toWorker.started)
      void enter(current, 'begin', [source, input, methods])
    },
    [toRunner.check]: ({ text }) => void check(text),
    [toRunner.answer]: ({ number, text }) => void enter(current, 'settle', [number, true, text]),
    [toRunner.refusal]: ({ number, text }) => void enter(current, 'settle', [number, false, text]),
  }
  let current = makeCell()
  const read = frameReader(setup.accepts, (frame) => orders[frame.kind]?.(frame))
  pipe.on('data', read)
  send(toWorker.ready)
}
