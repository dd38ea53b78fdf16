import test from 'ava'
import { completeCause, platformCause } from '#shared/platform/kernel/cause.ts'

test('cause: what a release without kinds stored counts as the request of its caller, or as the platform’s work', (t) => {
  const stored = { actorId: 'someone', requestId: 'r', depth: 2, jobId: 'job' }
  for (const actorType of ['user', 'service', 'anonymous'] as const)
    t.deepEqual(completeCause({ ...stored, actorType }), { ...stored, actorType, kind: 'request', id: null })
  const system = { actorId: null, actorType: 'system', requestId: 'r', depth: 0 } as const
  t.deepEqual(completeCause(system), platformCause('r'))
})

test('cause: what was stored with its kind stays as it is', (t) => {
  const cause = { ...platformCause('r'), kind: 'flow', id: 'run' } as const
  t.deepEqual(completeCause(cause), cause)
})
