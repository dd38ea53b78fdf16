import test from 'ava'
import type { Page } from 'playwright-core'
import { addDeadLetter, addOperation, describeOperation, markAnswered } from '#test/platform/jobs/operator/rows.ts'
import { addMail } from '#test/platform/mail/rows.ts'
import { createAccount, fromAnywhere, password } from '#test/support/account.ts'
import { findingsOf, overflowOf } from '#test/support/axe.ts'
import { browse } from '#test/support/browser.ts'
import { createOrg } from '#test/support/factories.ts'
import { listening } from '#test/support/listening.ts'
import { createOperator, makeOperator, visitConsole } from '#test/support/operators.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

// A browser names the origin of the public URL.
const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()) }))
const { inBrowser, open } = browse(test)

const schemes = [
  ['light', 'all'],
  ['dark', 'colours'],
] as const

/** A failed export whose caller was told so, with an attempt and a job that it caused. */
async function failedJob({ db, org }: World): Promise<string> {
  const made = { workspaceId: org.id, principalId: org.ownerId, createdAt: new Date().toISOString() }
  const message = 'The file store at https://store.internal.example/a-bucket-of-a-long-name/exports/2026/11/29 did not answer'
  const id = await addOperation(db, { ...made, status: 'failed', error: { code: 'INTERNAL', message } })
  await describeOperation(db, id, { error: message })
  await addDeadLetter(db, id, org.id)
  await markAnswered(db, id)
  await describeOperation(db, await addOperation(db, { ...made, status: 'done' }), { error: '', parentId: id })
  return id
}

/** An export that no worker takes. */
const waitingJob = ({ db, org }: World): Promise<string> =>
  addOperation(db, { status: 'queued', workspaceId: org.id, createdAt: new Date().toISOString() })

/** The pages that an operator opens, and the same for who has no session. */
const pages: Readonly<Record<string, (w: World) => string | Promise<string>>> = {
  start: () => '/operator',
  overview: () => '/operator/overview',
  kinds: () => '/operator/kinds',
  kind: () => '/operator/kinds/records.import',
  jobs: async (w) => {
    await failedJob(w)
    return `/operator/jobs?workspace=${w.org.id}`
  },
  'no job': () => '/operator/jobs?request_id=nobody',
  'a wrong search for jobs': () => '/operator/jobs?kind=no.kind&workspace=Acme',
  'a failed job': async (w) => `/operator/jobs/${await failedJob(w)}`,
  'a job that waits': async (w) => `/operator/jobs/${await waitingJob(w)}`,
  'an action to all that match': async (w) => {
    await failedJob(w)
    return `/operator/jobs/act?action=retry&workspace=${w.org.id}`
  },
  'an action to none': () => '/operator/jobs/act?action=discard&request_id=nobody',
  mails: async ({ db, org }) => {
    const to = 'somebody-with-a-very-long-name@a-subdomain.of-a-long-name.example.com'
    for (const status of ['queued', 'failed'])
      await addMail(db, { status, workspaceId: org.id, to, text: '', error: '451 4.7.1 Greylisted, please try again later' })
    return `/operator/mails?workspace=${org.id}&tried=2`
  },
  'no mail': ({ org }) => `/operator/mails?workspace=${org.id}&status=bounced`,
  'a wrong search for mails': () => '/operator/mails?workspace=Acme',
  workers: () => '/operator/workers',
  schedules: () => '/operator/schedules',
  use: () => '/operator/use',
  workspaces: () => '/operator/workspaces?q=o',
  'no workspace': () => '/operator/workspaces?q=zyzzyva',
  workspace: ({ org }) => `/operator/workspaces/${org.id}`,
  operators: () => '/operator/operators',
  log: () => '/operator/log',
}

/** Opens a page in a browser that has a session of this operator; without one, a browser without any. */
async function visit(w: World, page: Page, operatorId: string | undefined, path: string): Promise<void> {
  if (operatorId) {
    const [name = '', value = ''] = (await visitConsole(w, operatorId)).headers.cookie.split('=')
    await page.context().addCookies([{ name, value, url: `${w.visitor.root}/operator`, httpOnly: true, sameSite: 'Strict' }])
  }
  await page.goto(w.visitor.root + path)
}

/** What is wrong with the page that a browser shows, light and dark, at 320 pixels and with text of twice the size. */
async function faultsOf(page: Page): Promise<unknown[]> {
  const faults: unknown[] = []
  for (const [colorScheme, part] of schemes) {
    await page.emulateMedia({ colorScheme })
    faults.push(...(await findingsOf(page, part)))
  }
  await page.setViewportSize({ width: 320, height: 640 })
  if ((await overflowOf(page)) > 0) faults.push('too wide at 320 pixels')
  await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
  await page.setViewportSize({ width: 400, height: 640 })
  if ((await overflowOf(page)) > 0) faults.push('too wide with large text')
  return faults
}

for (const [name, address] of Object.entries(pages)) {
  inBrowser(`console: light or dark, at 320 pixels and with text of twice the size, the page is accessible: ${name}`, async (t) => {
    const w = await start()
    const { id, client } = await createOperator(w, false, 'Otto of a very long name that does not want to break')
    for (const action of ['suspend', 'resume']) await client.post(`/v1/operator/workspaces/${w.org.id}/${action}`)
    const page = await open(t, { extraHTTPHeaders: fromAnywhere() })
    await visit(w, page, id, await address(w))
    t.is(await page.locator('h1').count(), 1)
    t.true(await page.getByRole('button', { name: 'Sign out' }).isVisible())
    t.deepEqual(await faultsOf(page), [])
  })
}

inBrowser('console: the form to sign in, its errors and a page without a session are accessible', async (t) => {
  const w = await start()
  const page = await open(t, { extraHTTPHeaders: fromAnywhere() })
  await visit(w, page, undefined, '/operator')
  t.deepEqual(await faultsOf(page), [])
  await page.getByLabel('Email address').fill('nobody@example.com')
  await page.getByLabel('Password').fill('guess')
  await Promise.all([page.waitForNavigation(), page.getByRole('button').click()])
  t.regex(await page.locator('main').innerText(), /The address or the password is wrong/)
  t.deepEqual(await faultsOf(page), [])
  await page.goto(`${w.visitor.root}/operator/log`)
  t.deepEqual(await faultsOf(page), [])
  await Promise.all([page.waitForURL(/\/operator$/), page.getByRole('link', { name: 'Sign in' }).click()])
  t.pass()
})

/** What a person does by keyboard alone. */
function keyboardOf(page: Page) {
  const focused = page.locator(':focus')
  return {
    /** Goes to the next element with this text, or of this name, by Tab alone. */
    tabTo: async (text: string) => {
      for (let count = 0; count < 60; count++) {
        await page.keyboard.press('Tab')
        if ((await focused.count()) === 0) continue
        if ((await focused.innerText()) === text || (await focused.getAttribute('name')) === text) return
      }
      throw new Error(`Tab does not reach ${text}`)
    },
    pressEnter: async (path: RegExp) => {
      await Promise.all([page.waitForURL(path), page.keyboard.press('Enter')])
    },
  }
}

inBrowser('console: an operator signs in, suspends and resumes a workspace and signs out by keyboard, without scripts', async (t) => {
  const w = await start()
  const { id, email } = await createAccount(w)
  await makeOperator(w, id)
  const { id: workspace } = await createOrg(w, 'Zwieback & Söhne')
  const page = await open(t, { javaScriptEnabled: false, extraHTTPHeaders: fromAnywhere() })
  const { tabTo, pressEnter } = keyboardOf(page)
  await page.goto(`${w.visitor.root}/operator`)
  await page.keyboard.press('Tab')
  await page.keyboard.type(email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await Promise.all([page.getByRole('navigation').waitFor(), page.keyboard.press('Enter')])
  await tabTo('Workspaces')
  await pressEnter(/\/workspaces$/)
  await page.locator('#q').focus()
  await page.keyboard.type('zwieback')
  await pressEnter(/q=zwieback/)
  await tabTo('Zwieback & Söhne')
  await pressEnter(new RegExp(`/workspaces/${workspace}$`))
  for (const [button, status] of [
    ['Suspend', 'suspended'],
    ['Resume', 'active'],
  ] as const) {
    await tabTo(button)
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    t.regex(await page.locator('main').innerText(), new RegExp(`Status\\s+${status}`))
  }
  await tabTo('Sign out')
  await Promise.all([page.getByLabel('Password').waitFor(), page.keyboard.press('Enter')])
  t.is((await page.goto(`${w.visitor.root}/operator/log`))?.status(), 401)
})

inBrowser('console: an operator finds jobs, acts on one and on all, and tries mails by keyboard, without scripts', async (t) => {
  const w = await start()
  const [retried, discarded, waiting] = [await failedJob(w), await failedJob(w), await waitingJob(w)]
  await addMail(w.db, { status: 'queued', to: 'ann@example.com', text: '' })
  const { id } = await createOperator(w)
  const page = await open(t, { javaScriptEnabled: false, extraHTTPHeaders: fromAnywhere() })
  const { tabTo, pressEnter } = keyboardOf(page)
  const main = () => page.locator('main').innerText()
  await visit(w, page, id, '/operator')
  await tabTo('Jobs')
  await pressEnter(/\/jobs$/)
  await tabTo('kind')
  await page.keyboard.type('records.export')
  await tabTo('More to search by')
  await page.keyboard.press('Enter')
  await tabTo('workspace')
  await page.keyboard.type(w.org.id)
  await pressEnter(/workspace=[\w-]{36}/)
  await tabTo(`records.export #${retried.slice(-6)}`)
  await pressEnter(new RegExp(retried))
  await tabTo('also_answered')
  await page.keyboard.press('Space')
  await tabTo('Retry')
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
  t.notRegex(await main(), /It failed/)
  for (const [job, button, headline] of [
    [discarded, 'Discard', 'It is cancelled'],
    [waiting, 'Cancel', 'It is cancelled'],
  ] as const) {
    await page.goto(`${w.visitor.root}/operator/jobs/${job}`)
    await tabTo(button)
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    t.true((await main()).includes(headline), button)
  }
  await failedJob(w)
  await page.goto(`${w.visitor.root}/operator/jobs?workspace=${w.org.id}&state=failed`)
  await tabTo('Discard all that have failed')
  await pressEnter(/act\?.*action=discard/)
  await tabTo('Discard 1 job')
  await pressEnter(/\/jobs\/[\w-]{36}$/)
  t.regex(await main(), /jobs\.act #/)
  await tabTo('Mails')
  await pressEnter(/\/mails$/)
  await tabTo('Try all')
  await pressEnter(/\/mails\?tried=\d+$/)
  t.regex(await main(), /mails? (is|are) tried again/)
})

inBrowser('console: a page of another origin has no session, and cannot send its forms', async (t) => {
  const w = await start()
  const { id } = await createOperator(w)
  const page = await open(t, { extraHTTPHeaders: fromAnywhere() })
  const session = await visitConsole(w, id)
  await visit(w, page, id, '/operator')
  // A page without a policy, at another name of this machine: the same site, and another origin.
  await page.goto(`${w.visitor.root.replace('127.0.0.1', 'localhost')}/healthz`)
  const answered = page.waitForResponse(/suspend$/)
  await page.evaluate(`(() => {
    const form = document.createElement('form')
    form.method = 'post'
    form.action = '${w.visitor.root}/operator/workspaces/${w.org.id}/suspend'
    const field = document.createElement('input')
    field.name = 'form_token'
    field.value = '${session.formToken}'
    form.append(field)
    document.documentElement.append(form)
    form.submit()
  })()`)
  t.is((await answered).status(), 403)
  t.is((await w.org.owner.get(w.org.path)).status, 200)
})
