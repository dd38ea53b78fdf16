import type { GuestSetup, Intrinsics, Post } from '#workers/features/functions/sandbox/guest/setup.ts'
import type { GuestText } from '#workers/features/functions/sandbox/guest/text.ts'

export interface Sdk {
  /** Creates the global `sdk`: a frozen object of namespaces with one function for each method, such as `records.list`. */
  readonly create: (methods: readonly string[]) => object
  /** Completes call `id` with an answer (JSON, or empty for undefined) or a refusal (JSON of code and message). */
  readonly complete: (id: number, isAnswer: boolean, text: string) => void
  /** Calls `action` once, when no call is pending. */
  readonly whenIdle: (action: () => void) => Promise<void>
}
interface Call {
  readonly id: number
  readonly text: string
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  next: Call | undefined
}

/**
 * Creates the SDK of a run. At most `concurrentCalls` calls are sent at a time; the others wait here, in the run's own memory. The isolate
 * evaluates the text of this function, so the function may use only its parameters.
 */
export function createSdk(intrinsics: Intrinsics, { errorWithCode, messageOf }: GuestText, post: Post, { limits, kinds }: GuestSetup): Sdk {
  const { freeze, parse, stringify, SavedPromise } = intrinsics
  const sent = intrinsics.create(null) as Record<number, Call | undefined>
  let lastId = 0
  let sentCount = 0
  let pendingCount = 0
  // Calls that wait to be sent are a linked list: methods of arrays may have been changed by the function.
  let first: Call | undefined
  let last: Call | undefined
  let onIdle: (() => void) | undefined

  const create: Sdk['create'] = (methods) => {
    const sdk: Record<string, Record<string, unknown>> = {}
    for (const method of methods) {
      const [space, name] = method.split('.') as [string, string]
      sdk[space] ??= {}
      sdk[space][name] = (...values: unknown[]) => new SavedPromise((resolve, reject) => enqueue(method, values, resolve, reject))
    }
    for (const space in sdk) freeze(sdk[space])
    return freeze(sdk)
  }

  const enqueue = (method: string, values: readonly unknown[], resolve: Call['resolve'], reject: Call['reject']): void => {
    if (lastId >= limits.sdkCalls) throw errorWithCode('RATE_LIMITED', `a run may make ${limits.sdkCalls} SDK calls`)
    let text = `${method}\n`
    try {
      text += `[${argumentsText(values)}]`
    } catch (thrown) {
      throw errorWithCode('VALIDATION_ERROR', `the arguments cannot be written as JSON: ${messageOf(thrown)}`)
    }
    if (text.length > limits.argumentCharacters) {
      throw errorWithCode('VALIDATION_ERROR', `the arguments have more than ${limits.argumentCharacters} characters of JSON`)
    }
    lastId += 1
    pendingCount += 1
    const call: Call = { id: lastId, text, resolve, reject, next: undefined }
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
    if (!first || sentCount >= limits.concurrentCalls) return
    const call = first
    first = call.next
    if (!first) last = undefined
    sent[call.id] = call
    sentCount += 1
    post(kinds.call, call.id, call.text)
  }

  const complete: Sdk['complete'] = (id, isAnswer, text) => {
    const call = sent[id]
    if (!call) return
    delete sent[id]
    sentCount -= 1
    pendingCount -= 1
    sendNext()
    if (isAnswer) call.resolve(text === '' ? undefined : parse(text))
    else {
      const { code, message } = parse(text)
      call.reject(errorWithCode(code, message))
    }
    if (pendingCount === 0) onIdle?.()
  }

  /**
   * Code that awaited a call may make another call, so this checks again after that code has run. It awaits undefined only: awaiting a
   * promise would use Promise.prototype, which the function may have changed.
   */
  const whenIdle: Sdk['whenIdle'] = async (action) => {
    onIdle = undefined
    await undefined
    if (pendingCount === 0) action()
    else onIdle = () => void whenIdle(action)
  }

  return { create, complete, whenIdle }
}
