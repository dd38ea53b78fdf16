import { Sandbox } from '#workers/features/functions/sandbox/sandbox.ts'

// A worker with one runner at rest and one in a loop. It prints the runners' process ids once the loop is about to begin.
const sandbox = new Sandbox({ size: 2, memoryMb: 128 })
const request = { owner: 'test', inputText: 'null', timeoutMs: 600_000, sdkMethods: ['test.started'] }
const source = 'async function handler() { await sdk.test.started(); for (;;) {} }'
const started = Promise.withResolvers<void>()
const rest = sandbox.run({ ...request, source: 'async function handler() { await sdk.test.started() }', call: () => started.promise })
void sandbox.run({
  ...request,
  source,
  call: async () => {
    started.resolve()
    await rest
    console.log(JSON.stringify(sandbox.pids))
  },
})
