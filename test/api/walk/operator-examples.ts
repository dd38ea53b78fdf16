import { ids } from '#api/http/example-ids.ts'
import { type Call, form, type WalkedRoutes } from '#test/api/walk/example.ts'
import { addDeadLetter, addOperation } from '#test/platform/jobs/operator/rows.ts'
import { createAccount, password } from '#test/support/account.ts'
import { createOrg } from '#test/support/factories.ts'
import { createOperator, makeOperator, signInForm, visitConsole } from '#test/support/operators.ts'
import { setOnlyPause, setWorkspaceStatus } from '#test/support/rows.ts'
import type { Place } from '#test/support/things.ts'

/** A workspace that no other call is about. */
const aWorkspace = async ({ world }: Place) => ({ [ids.workspace]: (await createOrg(world, 'Operated')).id })

async function aSuspendedWorkspace(place: Place) {
  const made = await aWorkspace(place)
  await setWorkspaceStatus(place.world.db, made[ids.workspace] ?? '', 'suspended')
  return made
}

const byOperator = async (call: Call, { world }: Place): Promise<Call> => ({ ...call, client: (await createOperator(world)).client })

/** An operator who can sign in, and the form token of the form. */
async function aVisitor({ world }: Place) {
  const { id, email } = await createAccount(world)
  await makeOperator(world, id)
  return { 'ada@example.com': email, 'example password': password, 'example-token-of-the-form': signInForm(world).formToken }
}

/** The call as the page of a session sends it. */
async function fromConsole(_: Call, { world }: Place): Promise<Call> {
  const { headers, formToken } = await visitConsole(world, (await createOperator(world)).id)
  return { ...form({ form_token: formToken }), headers }
}

/** The call by an operator, about a kind or a pool that is paused or not. */
async function aboutPause(call: Call, place: Place, isPaused: boolean): Promise<Call> {
  const [[target, name] = ['', '']] = Object.entries(call.params ?? {})
  await setOnlyPause(place.world.db, isPaused ? { target, name } : null)
  return byOperator(call, place)
}

/** The call of a page while this is paused, and nothing else. */
async function beforePause(call: Call, { world }: Place, pause: { target: string; name: string } | null): Promise<Call> {
  await setOnlyPause(world.db, pause)
  return call
}

/** An operation that no other call is about. */
async function anOperation({ world, org }: Place, status: 'done' | 'queued' | 'failed') {
  const id = await addOperation(world.db, { status, workspaceId: org.id, createdAt: new Date().toISOString() })
  if (status === 'failed') await addDeadLetter(world.db, id, org.id)
  return { [ids.job]: id }
}

/** Routes of operators. */
export const operatorExamples: WalkedRoutes = {
  'GET /v1/operator/log': {
    needs: 'operator',
    badQuery: 'limit=0',
    secondPage: async ({ world, org }) => {
      const { client } = await createOperator(world)
      for (const action of ['suspend', 'resume']) await client.post(`/v1/operator/workspaces/${org.id}/${action}`)
      const { data } = await client.get('/v1/operator/log?limit=1')
      return { query: { limit: '1', cursor: data.next_cursor }, client }
    },
    change: byOperator,
  },
  'GET /v1/operator/overview': { needs: 'operator', change: byOperator },
  'GET /v1/operator/stream': { needs: 'operator', change: byOperator },
  'GET /v1/operator/jobs/kinds': { needs: 'operator', change: byOperator },
  'GET /v1/operator/workers': { needs: 'operator', change: byOperator },
  'GET /v1/operator/schedules': { needs: 'operator', change: byOperator },
  'GET /v1/operator/workspaces': { needs: 'operator', change: byOperator },
  'GET /v1/operator/jobs': {
    needs: 'operator',
    badQuery: 'error=ab',
    secondPage: async (place) => {
      for (let index = 0; index < 2; index++) await anOperation(place, 'done')
      const { client } = await createOperator(place.world)
      const { data } = await client.get('/v1/operator/jobs?limit=1')
      return { query: { limit: '1', cursor: data.next_cursor }, client }
    },
    change: byOperator,
  },
  'GET /v1/operator/jobs/:id': { needs: 'operator', things: (place) => anOperation(place, 'done'), change: byOperator },
  'POST /v1/operator/jobs/:id/retry': { needs: 'operator', things: (place) => anOperation(place, 'failed'), change: byOperator },
  'POST /v1/operator/jobs/:id/cancel': { needs: 'operator', things: (place) => anOperation(place, 'queued'), change: byOperator },
  'POST /v1/operator/jobs/:id/discard': { needs: 'operator', things: (place) => anOperation(place, 'failed'), change: byOperator },
  'POST /v1/operator/jobs/act': {
    needs: 'operator',
    // None of the walk's jobs has failed with the error of the example.
    change: (call, place) => byOperator({ ...call, body: { ...Object(call.body), expect: 0 } }, place),
  },
  'POST /v1/operator/workspaces/:id/suspend': { needs: 'operator', things: aWorkspace, change: byOperator },
  'POST /v1/operator/workspaces/:id/resume': { needs: 'operator', things: aSuspendedWorkspace, change: byOperator },
  'POST /v1/operator/workspaces/:id/plan': { needs: 'operator', things: aWorkspace, change: byOperator },
  'GET /operator': { needs: 'public' },
  'POST /operator/sign-in': {
    needs: 'public',
    things: aVisitor,
    change: (call, { world }) => ({ ...call, headers: { origin: signInForm(world).origin } }),
  },
  'POST /v1/operator/jobs/kinds/:kind/pause': { needs: 'operator', change: (call, place) => aboutPause(call, place, false) },
  'POST /v1/operator/jobs/kinds/:kind/resume': { needs: 'operator', change: (call, place) => aboutPause(call, place, true) },
  'POST /v1/operator/pools/:pool/pause': { needs: 'operator', change: (call, place) => aboutPause(call, place, false) },
  'POST /v1/operator/pools/:pool/resume': { needs: 'operator', change: (call, place) => aboutPause(call, place, true) },
  'POST /operator/sign-out': { needs: 'public', change: fromConsole },
  'GET /operator/log': { needs: 'operator', badQuery: 'cursor=x' },
  'GET /operator/overview': { needs: 'operator' },
  'GET /operator/stream': { needs: 'operator' },
  'GET /operator/kinds': { needs: 'operator' },
  'GET /operator/kinds/:kind': { needs: 'operator' },
  'POST /operator/kinds/:kind/pause': { needs: 'operator', change: (call, place) => beforePause(call, place, null) },
  'POST /operator/kinds/:kind/resume': {
    needs: 'operator',
    change: (call, place) => beforePause(call, place, { target: 'kind', name: 'queues.clear' }),
  },
  'POST /operator/kinds/:kind/pool/pause': { needs: 'operator', change: (call, place) => beforePause(call, place, null) },
  'POST /operator/kinds/:kind/pool/resume': {
    needs: 'operator',
    change: (call, place) => beforePause(call, place, { target: 'pool', name: 'data' }),
  },
  'GET /operator/jobs': { needs: 'operator', badQuery: 'limit=0' },
  'GET /operator/jobs/:id': { needs: 'operator', things: (place) => anOperation(place, 'done') },
  'POST /operator/jobs/:id/retry': { needs: 'operator', things: (place) => anOperation(place, 'failed') },
  'POST /operator/jobs/:id/cancel': { needs: 'operator', things: (place) => anOperation(place, 'queued') },
  'POST /operator/jobs/:id/discard': { needs: 'operator', things: (place) => anOperation(place, 'failed') },
  'GET /operator/jobs/act': { needs: 'operator', badQuery: 'action=x' },
  'POST /operator/jobs/act': {
    needs: 'operator',
    // None of the walk's jobs has failed with the error of the example.
    change: (call) => ({ ...call, ...form({ action: 'discard', error: 'file store', expect: '0' }) }),
  },
  'GET /operator/mails': { needs: 'operator', badQuery: 'tried=-1' },
  'POST /operator/mails/flush': { needs: 'operator' },
  'GET /operator/workers': { needs: 'operator' },
  'GET /operator/schedules': { needs: 'operator' },
  'GET /operator/use': { needs: 'operator' },
  'GET /operator/operators': { needs: 'operator' },
  'GET /operator/workspaces': { needs: 'operator', badQuery: 'cursor=x' },
  'GET /operator/workspaces/:id': { needs: 'operator', things: aWorkspace },
  'POST /operator/workspaces/:id/suspend': { needs: 'operator', things: aWorkspace },
  'POST /operator/workspaces/:id/resume': { needs: 'operator', things: aSuspendedWorkspace },
  'POST /operator/workspaces/:id/plan': { needs: 'operator', things: aWorkspace },
}
