import test from 'ava'
import { type Agent, soundDraft, startAgent } from '#test/support/agent.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

let agent: Agent
const shared = shareWorld(test, async () => {
  agent = await startAgent()
  return { AGENT_URL: agent.url, AGENT_MODEL: 'drafter', AGENT_KEY: 'hush' }
})

const withoutAssistant = shareWorld(test)

const ask = (org: World['org'], prompt: unknown = 'Thank everybody who buys') => org.owner.post(`${org.path}/flows/generate`, { prompt })

test('generate: the assistant’s proposal is checked and returned, not saved', async (t) => {
  const w = await shared()
  const nodes = [
    { id: 't', type: 'trigger.record_event', config: { object_type: 'invoices', event: 'created' } },
    { id: 'a', type: 'action.create_record', config: { values: {} } },
  ]
  agent.answer = {
    content: `\`\`\`json\n${JSON.stringify({ ...soundDraft, nodes, edges: [{ id: 'e', source: 't', source_handle: 'out', target: 'a' }] })}\n\`\`\``,
  }
  const answer = await ask(w.org)
  t.is(answer.status, 200, answer.text)
  t.like(answer.data, { name: 'Draft', problems: [{ node_id: 'a', message: 'object_type is required' }] })
  t.deepEqual(
    answer.data.nodes.map(({ id }: { id: string }) => id),
    ['t', 'a'],
  )
  const [asked] = agent.asked
  t.is(asked?.authorization, 'Bearer hush')
  t.is(asked?.body.model, 'drafter')
  t.deepEqual(
    asked?.body.messages.map(({ role }) => role),
    ['system', 'user'],
  )
  t.regex(asked?.body.messages[0]?.content ?? '', /logic\.for_each[\s\S]*invoices/)
  t.deepEqual((await w.org.owner.get(`${w.org.path}/flows`)).data, [])
})

/** A message that proposes a flow of a manual trigger and a block with these settings. */
const proposing = (type: string, config: object): Agent['answer'] => ({
  content: JSON.stringify({ ...soundDraft, nodes: [...soundDraft.nodes, { id: 'a', type, config }] }),
})

const bad: readonly (readonly [name: string, answer: Agent['answer'], says: RegExp])[] = [
  ['an error', { status: 500 }, /answered 500/],
  ['no JSON', { content: 'I would rather not' }, /flow is not valid JSON/],
  ['no message', { raw: '{"choices": []}' }, /no message/],
  ['nonsense', { raw: '<html>' }, /no JSON/],
  [
    'a flow that could not be saved',
    { content: JSON.stringify({ ...soundDraft, nodes: [{ id: 'x', type: 'action.explode' }] }) },
    /no block of the type action.explode/,
  ],
  [
    'an unknown setting',
    proposing('action.create_record', { object_type: 'locations', vals: { name: 'x' } }),
    /nodes\[1\]\.config\.vals is no key of .*did you mean values/,
  ],
  [
    'an unknown setting of a trigger',
    { content: JSON.stringify({ ...soundDraft, nodes: [{ id: 't', type: 'trigger.record_event', config: { watch: 'x' } }] }) },
    /nodes\[0\]\.config\.watch is no key of/,
  ],
  [
    'a lone surrogate',
    { content: JSON.stringify({ ...soundDraft, name: 'a\ud800' }) },
    /flow\.name holds a NUL character or a lone surrogate/,
  ],
  ['a NUL character', { content: JSON.stringify({ ...soundDraft, name: 'a\0' }) }, /flow\.name holds a NUL character/],
  [
    'a list that is nested too deep',
    proposing('logic.for_each', { list: JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`) }),
    /flow is nested deeper than 64 levels/,
  ],
  ['no name', { content: JSON.stringify({ nodes: [] }) }, /name is required/],
]
for (const [name, answer, says] of bad) {
  test(`generate: an assistant that returns ${name} is AGENT_ERROR with the reason, asked once`, async (t) => {
    const w = await shared()
    const before = agent.asked.length
    agent.answer = answer
    const { status, body } = await ask(w.org)
    t.is(status, 502)
    t.is(body.error.code, 'AGENT_ERROR')
    t.regex(body.error.message, says)
    t.is(agent.asked.length, before + 1)
  })
}

test('generate: the numbers of a proposal keep all their digits', async (t) => {
  const w = await shared()
  const digits = '12345678901234567890.123456'
  const proposal = proposing('logic.reduce', { list: [0], op: 'sum' })
  agent.answer = { content: proposal?.content?.replace('[0]', `[${digits}]`) ?? '' }
  const answer = await ask(w.org)
  t.is(answer.status, 200, answer.text)
  t.true(answer.text.includes(`"list":[${digits}]`), answer.text)
})

test('generate: the free plan has 20 drafts a day', async (t) => {
  const w = await shared()
  const org = await createOrg(w, 'Free', 'free')
  agent.answer = { content: JSON.stringify(soundDraft) }
  const statuses = await Promise.all(Array.from({ length: 25 }, () => ask(org).then(({ status }) => status)))
  t.deepEqual(statuses.toSorted(), [...Array(20).fill(200), ...Array(5).fill(402)])
})

test('generate: the prompt is required and its length is limited', async (t) => {
  const w = await shared()
  for (const prompt of ['', 'x'.repeat(4_001), undefined, 5]) t.is((await ask(w.org, prompt ?? null)).status, 400)
})

test('generate: without an assistant, the request fails with an error that says so', async (t) => {
  const bare = await withoutAssistant()
  const { status, body } = await ask(bare.org)
  t.is(status, 503)
  t.is(body.error.code, 'AGENT_DISABLED')
})
