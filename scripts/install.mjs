import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { endWithParent } from './end-with-parent.mjs'
import { waitForLock } from './lock.mjs'

/**
 * Installs the packages of package-lock.json unless node_modules holds exactly those. One installer at a time works in
 * a folder, the others wait. Returns false when npm failed, which npm has reported, or was stopped.
 * @param {string} root the project's folder
 * @param {{ development: boolean }} options whether tools and the embedded database are needed too
 * @param {AbortSignal} stop ends npm
 * @returns {Promise<boolean>}
 */
export async function ensureInstalled(root, options, stop) {
  if (isInstalled(root, options)) return true
  const lock = await waitForLock(join(root, '.cache', 'install.lock'), (holder) =>
    console.error(`Waiting for another installation (pid ${holder}) to finish.`),
  )
  try {
    if (isInstalled(root, options)) return true
    console.error('Installing dependencies, once for this package-lock.json.')
    // An interrupted installation can leave folders that npm cannot replace, so the second try starts clean.
    for (const attempt of ['first', 'last']) {
      if (attempt === 'last') rmSync(join(root, 'node_modules'), { recursive: true, force: true, maxRetries: 10 })
      const code = await npmCi(root, stop)
      if (stop.aborted) return false
      if (code === 0 && isInstalled(root, options)) return true
    }
    return false
  } finally {
    lock.release()
  }
}

/**
 * The Node for the project: the pinned one of node_modules, else the running one if it is new enough, else null.
 * @param {string} root
 * @returns {string | null}
 */
export function pinnedNode(root) {
  const pinned = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (existsSync(pinned)) return pinned
  return Number(process.versions.node.split('.')[0]) >= 24 ? process.execPath : null
}

// npm writes node_modules/.package-lock.json last: the file exists only after a complete installation, and its content names the packages.
function isInstalled(root, { development }) {
  const wanted = packages(join(root, 'package-lock.json'))
  const found = packages(join(root, 'node_modules', '.package-lock.json'))
  if (!wanted || !found || pinnedNode(root) === null) return false
  return Object.entries(wanted).every(([path, entry]) => {
    const present = found[path]
    if (path === '') return true
    if (!present) return entry.optional === true || (entry.dev === true && !development)
    return present.version === entry.version && present.integrity === entry.integrity
  })
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return null
  }
}

// A process group of its own: the terminal's Ctrl-C then reaches only this process, which ends npm (on Linux also by a signal when this
// process dies). The flags are arguments, because the caller's environment (NODE_ENV, npm_config_*) overrides the project's .npmrc.
function npmCi(root, stop) {
  const flags = ['--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const command = [...endWithParent('KILL'), ...npm(), 'ci', ...flags]
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { cwd: root, detached: true, stdio: ['ignore', 2, 2] })
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
