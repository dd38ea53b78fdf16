import type { runLimits } from '#workers/functions/sandbox/limits.ts'
import type { LogLevel, toWorker } from '#workers/functions/sandbox/protocol.ts'

/** Ways into an isolate. They take and give text and numbers only. */
export interface GuestEntries {
  /** Evaluates the source and calls its handler; `methods` is a JSON list of SDK method names. */
  readonly begin: (source: string, input: string, methods: string) => void
  /** Settles SDK call `id`: with an answer (JSON, or empty for nothing) or a refusal (JSON of code and message). */
  readonly settle: (id: number, answered: boolean, text: string) => void
  readonly fire: (timer: number) => void
  readonly nothing: () => void
}
export interface GuestSetup {
  readonly limits: typeof runLimits
  readonly kinds: typeof toWorker
  readonly levels: readonly LogLevel[]
}
/** The one way out of an isolate. No code of the function ever holds it. */
export type Post = (kind: number, number: number, text: string) => void

interface Call {
  readonly id: number
  readonly text: string
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  next: Call | undefined
}

/**
 * The first code in every fresh isolate: it takes away what a function may not have and puts `sdk`, `console` and `setTimeout` there.
 * Its text is evaluated in the isolate in strict mode, so it names nothing outside itself. Once the function's source has run, any
 * prototype may have been changed: from then on this code uses only the intrinsics that it kept, own properties and plain syntax.
 */
export function guest(post: Post, { limits, kinds, levels }: GuestSetup): GuestEntries {
  const { parse, stringify } = JSON
  const { create, defineProperty, freeze } = Object
  const tagOf = Object.prototype.toString
  const { apply } = Reflect
  const { slice } = String.prototype
  const [Text, Failure, WrongType, WrongRange, Pending] = [String, Error, TypeError, RangeError, Promise]
  // How V8 says that the isolate's allocator has refused a buffer because of the memory limit.
  const noBuffer = 'Array buffer allocation failed'
  const root = globalThis as unknown as Record<string, unknown>
  const evaluate = root.eval as (source: string) => unknown
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics']) delete root[name]

  const begin: GuestEntries['begin'] = (source, input, methods) => {
    offer('sdk', sdkOf(parse(methods)))
    void run(source, input)
  }

  const run = async (source: string, input: string): Promise<void> => {
    let kind: number = kinds.returned
    let text: string
    try {
      const handler = evaluate(`${source}\n;typeof handler === 'function' ? handler : undefined\n//# sourceURL=function.js`)
      if (typeof handler !== 'function') throw new Failure('the source defines no function named handler')
      text = resultText(await handler(parse(input)))
    } catch (thrown) {
      text = messageOf(thrown)
      kind = text === noBuffer && thrown instanceof WrongRange ? kinds.memory : kinds.threw
    }
    // Calls that nobody awaited are carried out all the same: the run ends after them.
    while (underWay > 0) await new Pending<void>((resolve) => (whenQuiet = resolve))
    post(kind, 0, kind === kinds.memory ? '' : text)
  }

  const resultText = (value: unknown): string => {
    if (value === undefined) return 'null'
    let text: string | undefined
    try {
      text = stringify(value)
    } catch (thrown) {
      throw new Failure(`the result cannot be written as JSON: ${messageOf(thrown)}`)
    }
    if (text === undefined) throw new Failure(`the result cannot be written as JSON: it is a ${typeof value}`)
    if (text.length > limits.jsonCharacters) throw new Failure(`the result has more than ${limits.jsonCharacters} characters of JSON`)
    return text
  }

  const messageOf = (thrown: unknown): string => {
    try {
      const message = typeof thrown === 'object' && thrown !== null ? (thrown as Error).message || (thrown as Error).name : undefined
      return cut(typeof message === 'string' ? message : describe(thrown), limits.errorCharacters)
    } catch {
      return 'the function threw something that has no message'
    }
  }

  const cut = (text: string, length: number): string => (text.length > length ? apply(slice, text, [0, length]) : text)

  const describe = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (typeof value === 'function') return '[function]'
    if (typeof value !== 'object' || value === null) return Text(value)
    try {
      const { stack } = value as Error
      return apply(tagOf, value, []) === '[object Error]' && typeof stack === 'string' ? stack : (stringify(value) ?? '[object]')
    } catch {
      return '[object]'
    }
  }

  const offer = (name: string, value: unknown): void => {
    defineProperty(root, name, { __proto__: null, value, enumerable: false, configurable: true, writable: true } as PropertyDescriptor)
  }

  // The SDK: at most `callsAtOnce` calls are out, the others stand in line here.
  const out = create(null) as Record<number, Call | undefined>
  let made = 0
  let underWay = 0
  let outNow = 0
  let first: Call | undefined
  let last: Call | undefined
  let whenQuiet: (() => void) | undefined

  const sdkOf = (methods: readonly string[]): object => {
    const sdk: Record<string, Record<string, unknown>> = {}
    for (const method of methods) {
      const [space, name] = method.split('.') as [string, string]
      sdk[space] ??= {}
      sdk[space][name] = (...values: unknown[]) =>
        new Pending((resolve, reject) => {
          if (made >= limits.sdkCalls) throw failure('RATE_LIMITED', `a run may make ${limits.sdkCalls} SDK calls`)
          const text = `${method}\n[${argumentsText(values)}]`
          if (text.length > limits.argumentCharacters) {
            throw failure('VALIDATION_ERROR', `the arguments have more than ${limits.argumentCharacters} characters of JSON`)
          }
          made += 1
          standInLine({ id: made, text, resolve, reject, next: undefined })
        })
    }
    for (const space in sdk) freeze(sdk[space])
    return freeze(sdk)
  }

  const argumentsText = (values: readonly unknown[]): string => {
    let text = ''
    let length = values.length
    while (length > 0 && values[length - 1] === undefined) length -= 1
    for (let index = 0; index < length; index++) text += `${index > 0 ? ',' : ''}${stringify(values[index]) ?? 'null'}`
    return text
  }

  const standInLine = (call: Call): void => {
    underWay += 1
    if (last) last.next = call
    else first = call
    last = call
    sendNext()
  }

  const sendNext = (): void => {
    if (!first || outNow >= limits.callsAtOnce) return
    const call = first
    first = call.next
    if (!first) last = undefined
    out[call.id] = call
    outNow += 1
    post(kinds.call, call.id, call.text)
  }

  const settle: GuestEntries['settle'] = (id, answered, text) => {
    const call = out[id]
    if (!call) return
    delete out[id]
    outNow -= 1
    underWay -= 1
    sendNext()
    if (answered) call.resolve(text === '' ? undefined : parse(text))
    else {
      const { code, message } = parse(text)
      call.reject(failure(code, message))
    }
    if (underWay === 0) whenQuiet?.()
  }

  const failure = (code: string, message: string): Error => {
    const error = new Failure(message)
    defineProperty(error, 'code', {
      __proto__: null,
      value: code,
      enumerable: true,
      configurable: true,
      writable: true,
    } as PropertyDescriptor)
    return error
  }

  // The console: one line or one character more than the limit goes out, so that the worker knows that there was more.
  let linesLeft = limits.logLines + 1
  let charactersLeft = limits.logBytes + 1
  const consoleMethod =
    (level: number) =>
    (...values: unknown[]): void => {
      if (linesLeft === 0 || charactersLeft === 0) return
      let text = ''
      for (let index = 0; index < values.length; index++) text += `${index > 0 ? ' ' : ''}${describe(values[index])}`
      text = cut(text, charactersLeft)
      linesLeft -= 1
      charactersLeft -= text.length
      post(kinds.log, level, text)
    }

  const consoleOf: Record<string, unknown> = {}
  for (const [level, name] of levels.entries()) consoleOf[name] = consoleMethod(level)

  // Timers: the runner keeps the time, what is to be called stays here. A cleared timer counts until its time has come.
  const set = create(null) as Record<number, (() => void) | undefined>
  let timers = 0
  let armed = 0

  const fire: GuestEntries['fire'] = (timer) => {
    armed -= 1
    const action = set[timer]
    delete set[timer]
    try {
      action?.()
    } catch (thrown) {
      post(kinds.threw, 0, messageOf(thrown))
    }
  }

  offer('console', consoleOf)
  offer('setTimeout', (action: unknown, delay?: unknown, ...values: unknown[]): number => {
    if (typeof action !== 'function') throw new WrongType('setTimeout takes a function')
    if (armed >= limits.timers) throw new Failure(`a run may have ${limits.timers} timers at a time`)
    armed += 1
    timers += 1
    set[timers] = () => apply(action, undefined, values)
    post(kinds.timer, timers, `${+(delay as number)}`)
    return timers
  })
  offer('clearTimeout', (timer: unknown): void => {
    if (typeof timer === 'number') delete set[timer]
  })

  return { begin, settle, fire, nothing: () => undefined }
}
