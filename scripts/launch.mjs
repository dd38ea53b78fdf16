import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ensureInstalled, isInstalled, pinnedNode } from './install.mjs'

/**
 * Runs the pinned Node with these arguments and exits with its exit code. Missing packages are installed where `packages` is `installed`;
 * otherwise it refuses and names the command that installs them. Signals are passed on. When this
 * process or its npm ends, the child's channel closes and the child stops. When the child ends, the process groups that it
 * reported are killed.
 * @param {string} root the project's folder
 * @param {string[]} args a file of the project and its arguments
 * @param {'installed' | 'development' | 'production'} packages what it needs
 */
export async function launch(root, args, packages) {
  const stop = new AbortController()
  let child = null
  const end = (signal) => {
    stop.abort()
    child?.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, end)
  watchNpm(() => end('SIGTERM'))

  if (packages === 'installed') {
    const isComplete = await ensureInstalled(root, stop.signal)
    if (stop.signal.aborted) process.exit(130)
    if (!isComplete) fail('The dependencies could not be installed: see what npm says above, then run the same command again.')
  } else if (!isInstalled(root, { development: packages === 'development' })) {
    fail(`The packages of package-lock.json are not installed. Run: npm ci${packages === 'development' ? '' : ' --omit=dev'}`)
  }
  const node = pinnedNode(join(root, 'node_modules'))
  if (node === null) fail(`Kontor runs on Node 24 or newer, this is ${process.version}. Install a newer Node and try again.`)

  // The compile cache keeps files without their types and halves the time until a process answers.
  const env = { NODE_COMPILE_CACHE: join(root, '.cache', 'compile'), ...process.env }
  child = spawn(node, args, { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  child.on('error', (error) => fail(`${node} does not run here: ${error.message}`))
  const groups = new Set()
  child.on('message', ({ group, isRunning }) => (isRunning ? groups.add(group) : groups.delete(group)))
  child.on('exit', (code, signal) => {
    for (const group of groups) killGroup(group)
    if (!signal) process.exit(code)
    for (const name of signals) process.off(name, end)
    process.kill(process.pid, signal)
  })
}

// npm passes on SIGINT and SIGTERM. When npm is killed by kill -9, its child only gets another parent.
function watchNpm(onGone) {
  const parent = process.ppid
  if (!process.env.npm_lifecycle_event || parent <= 1) return
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    onGone()
  }, 1000)
  watch.unref()
}

function killGroup(group) {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {}
}

function fail(text) {
  console.error(text)
  process.exit(1)
}
