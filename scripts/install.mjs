import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { endWithParent } from './end-with-parent.mjs'
import { waitForLock } from './lock.mjs'

/**
 * Installs the packages of package-lock.json unless node_modules holds exactly those. The packages are installed into a folder beside and
 * then take the place of node_modules, so it stays as it is when the installation fails or is stopped. One installer at a time works in a
 * folder, the others wait. Returns false when npm failed, which npm has reported, or was stopped.
 * @param {string} root the project's folder
 * @param {AbortSignal} stop ends npm
 * @returns {Promise<boolean>}
 */
export async function ensureInstalled(root, stop) {
  const modules = join(root, 'node_modules')
  const needs = { development: true }
  if (isInstalled(root, needs)) return true
  const lock = await waitForLock(join(root, '.cache', 'install.lock'), (holder) =>
    console.error(`Waiting for another installation (pid ${holder}) to finish.`),
  )
  try {
    if (isInstalled(root, needs)) return true
    const staging = join(root, '.cache', 'install')
    const staged = join(staging, 'node_modules')
    // It is complete when a process was killed before it had put it in place.
    if (!isInstalled(root, needs, staged)) {
      console.error('Installing dependencies, once for this package-lock.json.')
      rmSync(staging, { recursive: true, force: true, maxRetries: 10 })
      mkdirSync(staging, { recursive: true })
      for (const name of ['package.json', 'package-lock.json', '.npmrc']) copyFileSync(join(root, name), join(staging, name))
      const code = await npmCi(staging, stop)
      if (stop.aborted || code !== 0 || !isInstalled(root, needs, staged)) return false
    }
    putInPlace(staged, modules, join(staging, 'replaced'))
    rmSync(staging, { recursive: true, force: true, maxRetries: 10 })
    return true
  } catch (error) {
    console.error(`node_modules could not be replaced: ${error.message}`)
    return false
  } finally {
    lock.release()
  }
}

/**
 * Whether a folder of packages holds exactly those of the project's package-lock.json. npm writes .package-lock.json last: the file exists
 * only after a complete installation, and its content names the packages.
 * @param {string} root the project's folder
 * @param {{ development: boolean }} needs whether tools and the embedded database are needed too
 * @param {string} [modules] the folder, by default the project's own
 * @returns {boolean}
 */
export function isInstalled(root, { development }, modules = join(root, 'node_modules')) {
  const wanted = packages(join(root, 'package-lock.json'))
  const found = packages(join(modules, '.package-lock.json'))
  if (!wanted || !found || pinnedNode(modules) === null) return false
  return Object.entries(wanted).every(([path, entry]) => {
    const present = found[path]
    if (path === '') return true
    if (!present) return entry.optional === true || (entry.dev === true && !development)
    return present.version === entry.version && present.integrity === entry.integrity
  })
}

/**
 * The Node for the project: the pinned one among these packages, else the running one if it is new enough, else null.
 * @param {string} modules
 * @returns {string | null}
 */
export function pinnedNode(modules) {
  const pinned = join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (existsSync(pinned)) return pinned
  return Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : null
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return null
  }
}

// A folder cannot be replaced in one step. A process that is killed between the two leaves a complete installation, which the next puts
// in place.
function putInPlace(staged, modules, replaced) {
  const isThere = lstatSync(modules, { throwIfNoEntry: false }) !== undefined
  if (isThere) renameSync(modules, replaced)
  try {
    renameSync(staged, modules)
  } catch (error) {
    if (isThere) renameSync(replaced, modules)
    throw error
  }
}

// A process group of its own: the terminal's Ctrl-C then reaches only this process, which ends npm (on Linux also by a signal when this
// process dies). The flags are arguments, because the caller's environment (NODE_ENV, npm_config_*) overrides the project's .npmrc.
function npmCi(folder, stop) {
  const flags = ['--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const command = [...endWithParent('KILL'), ...npm(), 'ci', `--prefix=${folder}`, ...flags]
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { cwd: folder, detached: true, stdio: ['ignore', 2, 2] })
    const end = () => kill(child)
    stop.addEventListener('abort', end, { once: true })
    child.on('error', () => resolve(1))
    child.on('exit', (code) => {
      stop.removeEventListener('abort', end)
      resolve(code ?? 1)
    })
  })
}

function npm() {
  const script = process.env.npm_execpath
  return script?.endsWith('npm-cli.js') && existsSync(script) ? [process.execPath, script] : ['npm']
}

function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {}
}
