// Unpacks the Chromium that npm brings into a folder: beside it first and renamed then, since others may do so at the same moment.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const [, , target = ''] = process.argv
await mkdir(dirname(target), { recursive: true })
const folder = await mkdtemp(join(dirname(target), 'unpacking-'))
try {
  // It asks for the folder of temporary files, and unpacks there.
  process.env.TMPDIR = folder
  const { default: packed } = await import('@sparticuz/chromium')
  await packed.executablePath()
  // Its own list of fonts names folders of other machines, and without any font a browser that draws a field ends.
  const fonts = `<fontconfig><dir>${join(target, 'fonts')}</dir><cachedir>${join(target, 'font-cache')}</cachedir></fontconfig>`
  await writeFile(join(folder, 'fonts.conf'), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">${fonts}\n`)
  await rename(folder, target).catch((error) => {
    if (!existsSync(target)) throw error
  })
} finally {
  await rm(folder, { recursive: true, force: true })
}
