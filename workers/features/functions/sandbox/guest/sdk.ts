import type { Intrinsics } from '#workers/features/functions/sandbox/guest/intrinsics.ts'
import type { GuestSetup, Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import type { GuestText } from '#workers/features/functions/sandbox/guest/text.ts'

export interface Sdk {
  /** The value of the global `sdk`: a frozen object of namespaces with one function for each method such as `records.list`. */
  readonly offer: (methods: readonly string[]) => object
  /** Ends call `id`: with an answer (JSON, or empty for nothing) or a refusal (JSON of code and message). */
  readonly settle: (id: number, answered: boolean, text: string) => void
  /** Goes on, once, when no call is under way. */
  readonly whenQuiet: (next: () => void) => Promise<void>
}
interface Call {
  readonly id: number
  readonly text: string
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  next: Call | undefined
}

/**
 * Makes the SDK of a run. At most `callsAtOnce` calls are out; the others stand in line here, on the run's own memory. Its text is
 * evaluated in the isolate, so it names nothing outside itself.
 */
export function makeSdk(kept: Intrinsics, { failure, messageOf }: GuestText, post: Post, { limits, kinds }: GuestSetup): Sdk {
  const { create, freeze, parse, stringify, Pending } = kept
  const out = create(null) as Record<number, Call | undefined>
  let made = 0
  let outNow = 0
  let underWay = 0
  let first: Call | undefined
  let last: Call | undefined
  let goOn: (() => void) | undefined

  const offer: Sdk['offer'] = (methods) => {
    const sdk: Record<string, Record<string, unknown>> = {}
    for (const method of methods) {
      const [space, name] = method.split('.') as [string, string]
      sdk[space] ??= {}
      sdk[space][name] = (...values: unknown[]) => new Pending((resolve, reject) => standInLine(method, values, resolve, reject))
    }
    for (const space in sdk) freeze(sdk[space])
    return freeze(sdk)
  }

  const standInLine = (method: string, values: readonly unknown[], resolve: Call['resolve'], reject: Call['reject']): void => {
    if (made >= limits.sdkCalls) throw failure('RATE_LIMITED', `a run may make ${limits.sdkCalls} SDK calls`)
    let text = `${method}\n`
    try {
      text += `[${argumentsText(values)}]`
    } catch (thrown) {
      throw failure('VALIDATION_ERROR', `the arguments cannot be written as JSON: ${messageOf(thrown)}`)
    }
    if (text.length > limits.argumentCharacters) {
      throw failure('VALIDATION_ERROR', `the arguments have more than ${limits.argumentCharacters} characters of JSON`)
    }
    made += 1
    underWay += 1
    const call: Call = { id: made, text, resolve, reject, next: undefined }
    if (last) last.next = call
    else first = call
    last = call
    sendNext()
  }

  const argumentsText = (values: readonly unknown[]): string => {
    let text = ''
    let length = values.length
    while (length > 0 && values[length - 1] === undefined) length -= 1
    for (let index = 0; index < length; index++) text += `${index > 0 ? ',' : ''}${stringify(values[index]) ?? 'null'}`
    return text
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

  const settle: Sdk['settle'] = (id, answered, text) => {
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
    if (underWay === 0) goOn?.()
  }

  // What waits for a call may make another, so look again once it has run. Nothing is awaited but undefined: for a promise the language
  // would ask the function's own Promise.prototype.
  const whenQuiet: Sdk['whenQuiet'] = async (next) => {
    goOn = undefined
    await undefined
    if (underWay === 0) next()
    else goOn = () => void whenQuiet(next)
  }

  return { offer, settle, whenQuiet }
}
