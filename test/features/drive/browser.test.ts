import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { Page } from 'playwright-core'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { browse } from '#test/support/browser.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const { inBrowser, open } = browse(test)

// A script that runs writes to the console, which no policy of the page forbids.
const call = (name: string) => `console.log('ran ${name}')`
const html = (name: string) => `<!doctype html><title>x</title><body onload="${call(name)}"><script>${call(name)}</script></body>`
const xmlns = 'xmlns="http://www.w3.org/1999/xhtml"'
const xhtml = (name: string) => `<html ${xmlns}><head><title>x</title><script>${call(name)}</script></head><body/></html>`
const svg = (name: string) => `<svg xmlns="http://www.w3.org/2000/svg" onload="${call(name)}"><script>${call(name)}</script></svg>`
const entity = (name: string) =>
  `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x "${call(name)}">]><svg xmlns="http://www.w3.org/2000/svg"><script>&x;</script></svg>`
const foreign = (name: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject width="9" height="9"><body ${xmlns}><script>${call(name)}</script></body></foreignObject></svg>`
const sheet = (name: string) =>
  `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><!DOCTYPE d [<!ATTLIST xsl:stylesheet id ID #REQUIRED>]><d><xsl:stylesheet id="s" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><script>${call(name)}</script></html></xsl:template></xsl:stylesheet></d>`
const feed = (name: string) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><x:script xmlns:x="http://www.w3.org/1999/xhtml">${call(name)}</x:script></channel></rss>`
const pdf = (name: string) =>
  `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(${call(name).replaceAll(/[()]/g, '\\$&')})>>>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF`
const archive = (name: string) => `MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html(name)}`
const behind = (magic: string) => (name: string) => Buffer.from(magic + html(name), 'latin1')
const utf16 = (name: string) => Buffer.from(`\ufeff${html(name)}`, 'utf16le')

type Bytes = (name: string) => string | Buffer

/** Files that a browser might run: the name and type that they are sent with, and the type that a plain server gives them. */
const active: readonly (readonly [name: string, said: string, bytes: Bytes, served?: string])[] = [
  ['a.html', 'text/html', html, 'text/html'],
  ['b.htm', 'text/plain', html],
  ['c.xhtml', 'application/xhtml+xml', xhtml, 'application/xhtml+xml'],
  ['d.xht', 'text/plain', xhtml, 'application/xhtml+xml'],
  ['e.svg', 'image/svg+xml', svg, 'image/svg+xml'],
  ['f.svg', 'image/png', entity, 'image/svg+xml'],
  ['g.svg', 'text/plain', foreign, 'image/svg+xml'],
  ['h.xml', 'text/xml', xhtml, 'text/xml'],
  ['i.xml', 'application/xml', svg, 'application/xml'],
  ['j.xml', 'text/xml', sheet, 'text/xml'],
  ['k.xsl', 'text/xsl', sheet],
  ['l.rss', 'application/rss+xml', feed],
  ['m.atom', 'application/atom+xml', feed],
  ['n.rdf', 'application/rdf+xml', xhtml],
  ['o.mml', 'application/mathml+xml', xhtml],
  ['p.js', 'text/javascript', call],
  ['q.mjs', 'application/javascript', call],
  ['r.pdf', 'application/pdf', pdf],
  ['s.mhtml', 'multipart/related', archive],
  ['t.eml', 'message/rfc822', archive],
  ['u.hta', 'application/hta', html],
  ['v.swf', 'application/x-shockwave-flash', behind('FWS\u0005')],
  ['w.txt', 'text/plain', html, 'text/html'],
  ['x', 'application/octet-stream', html, 'text/html'],
  ['y.png', 'image/png', html, 'text/html'],
  ['z.jpg', 'text/html', html, 'text/html'],
  ['aa.gif', 'text/html', behind('GIF89a/*'), 'text/html'],
  ['ab.png', 'text/html', behind('\u0089PNG\r\n\u001a\n\u0000\u0000\u0000\rIHDR'), 'text/html'],
  ['ac.jpg', 'text/html', behind('\u00ff\u00d8\u00ff\u00e0\u0000\u0010JFIF\u0000'), 'text/html'],
  ['ad.bmp', 'text/html', behind('BM/*'), 'text/html'],
  ['ae.ico', 'text/html', behind('\u0000\u0000\u0001\u0000'), 'text/html'],
  ['af.pdf', 'text/html', behind('%PDF-1.7\n'), 'text/html'],
  ['ag.mp3', 'text/html', behind('ID3\u0003\u0000\u0000\u0000\u0000\u0000\u0000'), 'text/html'],
  ['ah.webm', 'text/html', behind('\u001aE\u00df\u00a3'), 'text/html'],
  ['ai.zip', 'text/html', behind('PK\u0003\u0004'), 'text/html'],
  ['aj.txt', 'text/plain', (name) => `\ufeff${html(name)}`, 'text/html'],
  ['ak.txt', 'text/plain', utf16, 'text/html'],
  ['al.html', 'text/html; charset=utf-7', (name) => html(name).replaceAll('<', '+ADw-').replaceAll('>', '+AD4-')],
  ['am.txt', 'text/plain', (name) => `${' \n'.repeat(3_000)}${html(name)}`, 'text/html'],
  ['an.txt', 'text/plain', (name) => `plain words ${'x'.repeat(6_000)}${html(name)}`, 'text/html'],
  ['ao.csv', 'text/csv', html, 'text/html'],
  ['ap.json', 'application/json', html, 'text/html'],
  ['aq.md', 'text/markdown', html, 'text/html'],
  ['ar.css', 'text/css', html],
  ['as.wasm', 'application/wasm', behind('\u0000asm')],
  ['at.ics', 'multipart/x-mixed-replace; boundary=b', archive],
]

/** Goes to an address, which a browser may save instead of showing it. */
async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address).catch((error: Error) => {
    if (!/ERR_ABORTED|Download is starting/.test(error.message)) throw error
  })
}

/** Every way in which a page shows a file inside itself. */
function holding(address: string): string {
  const quoted = `"${address.replaceAll('&', '&amp;')}"`
  return `<iframe src=${quoted}></iframe><object data=${quoted}></object><embed src=${quoted}><img src=${quoted}>`
}

/** Opens each address by itself, then inside pages, and gives the names of those that ran. */
async function ranOf(page: Page, root: string, addresses: readonly string[]): Promise<Set<string>> {
  const ran = new Set<string>()
  page.on('console', (message) => {
    const [, name] = /^ran (\S+)$/.exec(message.text()) ?? []
    if (name !== undefined) ran.add(name)
  })
  for (const address of addresses) await visit(page, address)
  const holder = `${root}/shown-in`
  for (let first = 0; first < addresses.length; first += 8) {
    const body = addresses
      .slice(first, first + 8)
      .map(holding)
      .join('\n')
    await page.route(holder, (route) => route.fulfill({ contentType: 'text/html', body }))
    await page.goto(holder)
    await page.unroute(holder)
  }
  return ran
}

inBrowser('browser: no file of a drive runs a script when it is opened', async (t) => {
  const w = await start()
  const space = spaceOf(w.org.owner, w.org, (await firstSpaces(w.org.owner, w.org)).main)
  for (const [name, said, bytes] of active) t.is((await space.put(name, bytes(name), said)).status, 201, name)
  const page = await open(t, { acceptDownloads: false, extraHTTPHeaders: { authorization: `Bearer ${w.org.owner.token}` } })
  const addresses = active.map(([name]) => `${w.org.owner.root}${space.path}/download?key=${name}`)
  t.deepEqual([...(await ranOf(page, w.org.owner.root, addresses))], [])
})

inBrowser('browser: the same files run scripts if a server sends the type that they claim', async (t) => {
  const running = active.filter(([, , , served]) => served !== undefined)
  const server = createServer((request, response) => {
    const [name, , bytes, served] = running.find(([name]) => `/${name}` === request.url) ?? []
    if (name === undefined || bytes === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': served ?? '' }).end(bytes(name))
  }).listen(0)
  t.teardown(() => void server.close())
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ran = await ranOf(
    await open(t),
    root,
    running.map(([name]) => `${root}/${name}`),
  )
  t.deepEqual(
    running.map(([name]) => name).filter((name) => !ran.has(name)),
    [],
  )
})
