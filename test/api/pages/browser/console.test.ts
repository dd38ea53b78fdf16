import test from 'ava'
import type { Page } from 'playwright-core'
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

/** The pages that an operator opens, and the same for who has no session. */
const pages: Readonly<Record<string, (w: World) => string>> = {
  start: () => '/operator',
  overview: () => '/operator/overview',
  kinds: () => '/operator/kinds',
  kind: () => '/operator/kinds/records.import',
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
    await visit(w, page, id, address(w))
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

inBrowser('console: an operator signs in, suspends and resumes a workspace and signs out by keyboard, without scripts', async (t) => {
  const w = await start()
  const { id, email } = await createAccount(w)
  await makeOperator(w, id)
  const { id: workspace } = await createOrg(w, 'Zwieback & Söhne')
  const page = await open(t, { javaScriptEnabled: false, extraHTTPHeaders: fromAnywhere() })
  const focused = page.locator(':focus')
  /** Goes to the next element with this text, by Tab alone. */
  const tabTo = async (text: string) => {
    for (let count = 0; count < 30; count++) {
      await page.keyboard.press('Tab')
      if ((await focused.count()) && (await focused.innerText()) === text) return
    }
    throw new Error(`Tab does not reach ${text}`)
  }
  const pressEnter = async (path: RegExp) => {
    await Promise.all([page.waitForURL(path), page.keyboard.press('Enter')])
  }
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
