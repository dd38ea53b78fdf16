import type { ExecutionContext } from 'ava'
import type { RunOutcome, RunRequest, SdkCall } from '#workers/features/functions/sandbox/run-outcome.ts'
import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'

/** A sandbox that is closed with its test. One runner unless the test says otherwise, so that every run follows on the one before. */
export function openSandbox(t: ExecutionContext, size = 1): Sandbox {
  const sandbox = new Sandbox({ size, memoryMb: 128 })
  t.teardown(() => sandbox.close())
  return sandbox
}

/** The properties of a request that differ; the input is a value. */
type Changes = Partial<Omit<RunRequest, 'inputText'>> & { readonly input?: unknown }

/** A request with time enough for a busy machine, and an SDK of one method that answers with its arguments. */
export const requestFor = (source: string, { input = null, ...changes }: Changes = {}): RunRequest => ({
  owner: 'test',
  source,
  inputText: JSON.stringify(input),
  timeoutMs: 30_000,
  sdkMethods: ['records.list'],
  call: async (_method, args) => args,
  ...changes,
})

/** Runs the body of an async handler. */
export const runBody = (sandbox: Sandbox, body: string, changes: Changes = {}): Promise<RunOutcome> =>
  sandbox.run(requestFor(`async function handler(input) { ${body} }`, changes))

/** The value that a body returns; fails when it does not return. */
export async function resultOf(t: ExecutionContext, sandbox: Sandbox, body: string, changes: Changes = {}): Promise<unknown> {
  const outcome = await runBody(sandbox, body, changes)
  t.is(outcome.error, null, body)
  return JSON.parse(outcome.resultText)
}

/** An SDK call that stays unanswered, and the moment at which it was made. */
export function stuckCall(): { readonly call: SdkCall; readonly made: Promise<AbortSignal> } {
  const made = Promise.withResolvers<AbortSignal>()
  const call: SdkCall = (_method, _args, signal) => {
    made.resolve(signal)
    return new Promise(() => undefined)
  }
  return { call, made: made.promise }
}
