import test from 'ava'
import { type AppName, apps } from '#shared/platform/kernel/apps.ts'
import { type Disposition, dispositionOf, requireNotHalted, type WorkKind } from '#shared/platform/kernel/background.ts'

const place = (status: 'active' | 'suspended', off: AppName[]) => ({
  status,
  apps: Object.fromEntries(apps.map((app) => [app, !off.includes(app)])) as Record<AppName, boolean>,
})

/** The disposition of each kind of work in a suspended workspace, with its app disabled, and with both. */
const cases: readonly (readonly [work: WorkKind, suspended: Disposition, appOff: Disposition, both: Disposition])[] = [
  ['request', 'refused', 'refused', 'refused'],
  ['step', 'waits', 'refused', 'waits'],
  ['due', 'waits', 'waits', 'waits'],
  ['upkeep', 'runs', 'runs', 'runs'],
]
for (const [work, suspended, appOff, both] of cases) {
  test(`background: in the background: ${work}`, (t) => {
    const working = { work, app: 'calendar' } as const
    t.is(dispositionOf(working, place('active', [])), 'runs')
    t.is(dispositionOf(working, place('active', ['payments'])), 'runs', 'another app')
    t.is(dispositionOf({ work, app: null }, place('active', [...apps])), 'runs')
    t.is(dispositionOf(working, place('suspended', [])), suspended)
    t.is(dispositionOf(working, place('active', ['calendar'])), appOff)
    t.is(dispositionOf(working, place('suspended', ['calendar'])), both)
  })
}

test('background: a function that does not continue receives the reason', (t) => {
  const asked = (status: 'active' | 'suspended') => () => requireNotHalted({ work: 'request', app: 'queues' }, place(status, ['queues']))
  t.is(t.throws(asked('suspended'))?.message, 'This workspace is suspended')
  t.like(t.throws(asked('active')), { code: 'NOT_FOUND' } as object)
  t.is(
    t.throws(() => requireNotHalted({ work: 'step', app: 'queues' }, place('active', ['queues'])))?.message,
    'The app queues is switched off',
  )
  t.notThrows(() => requireNotHalted({ work: 'upkeep', app: 'queues' }, place('suspended', ['queues'])))
})
