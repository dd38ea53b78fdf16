import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'

// A lock is a folder with a listening socket in it. The kernel closes the socket when its process ends, so there is no stale process id,
// and other containers that share the folder see the lock too. A process takes the lock by renaming a folder with its own socket to the
// lock's path, which fails unless that path is missing or empty. A dead socket is removed by name. Names are used once, so nobody removes
// the socket of a new holder.

/**
 * Takes the lock at this path, or returns its holder: the holder's text, or '?' if it does not answer.
 * On a file system without sockets, the lock excludes nobody.
 * @param {string} path
 * @param {() => string} [says] the text that others get, by default the process id
 * @returns {Promise<{ taken: true, release: () => void } | { taken: false, holder: string }>}
 */
export async function takeLock(path, says = () => String(process.pid)) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const before = await findHolder(path)
  if (before !== null) return { taken: false, holder: before }
  const name = randomUUID()
  const own = `${path}.${name}`
  mkdirSync(own, { mode: 0o700 })
  const server = await listen(join(own, name), says)
  for (;;) {
    if (isRenamed(own, path)) return { taken: true, release: () => server.close() }
    const holder = await findHolder(path)
    if (holder === null) continue
    server.close(() => rmSync(own, { recursive: true, force: true }))
    return { taken: false, holder }
  }
}

/**
 * Takes the lock, waiting until its holder releases it. `onWait` is called once, with the holder.
 * @param {string} path
 * @param {(holder: string) => void} [onWait]
 * @returns {Promise<{ taken: true, release: () => void }>}
 */
export async function waitForLock(path, onWait) {
  for (let isAnnounced = false; ; isAnnounced = true) {
    const lock = await takeLock(path)
    if (lock.taken) return lock
    if (!isAnnounced) onWait?.(lock.holder)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

function isRenamed(from, to) {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false
    throw error
  }
}

async function findHolder(path) {
  for (const name of list(path)) {
    const holder = await ask(join(path, name))
    if (holder !== null) return holder
    rmSync(join(path, name), { force: true })
  }
  return null
}

function list(path) {
  try {
    return readdirSync(path)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

const unsupported = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL']

function listen(file, says) {
  const address = shortAddress(file)
  const server = createServer((socket) => socket.on('error', () => {}).end(says()))
  // Closing removes the socket by its path, so the folder stays open until then.
  server.once('close', address.close)
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (unsupported.includes(error.code)) return resolve(server)
      address.close()
      reject(error)
    })
    server.listen(address.path, () => {
      // The folder is private, so nobody else could connect before this call.
      chmodSync(file, 0o600)
      resolve(server.unref())
    })
  })
}

function ask(file) {
  let address
  try {
    address = shortAddress(file)
  } catch {
    return null
  }
  return new Promise((resolve) => {
    const socket = connect(address.path)
    let text = ''
    const done = (answer) => {
      socket.destroy()
      address.close()
      resolve(answer)
    }
    socket.setTimeout(1000, () => done('?'))
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', () => done(text || '?'))
    // ECONNREFUSED and ENOENT mean that no process listens. After any other error, such as a denied permission, one may.
    socket.on('error', (error) => done(['ECONNREFUSED', 'ENOENT'].includes(error.code) ? null : '?'))
  })
}

// A socket address holds about 100 bytes, and paths of projects can be longer. Linux has a short path for an open folder.
function shortAddress(file) {
  if (process.platform !== 'linux') return { path: file, close: () => {} }
  let handle = openSync(dirname(file), 'r')
  return {
    path: `/proc/self/fd/${handle}/${basename(file)}`,
    close: () => {
      if (handle !== null) closeSync(handle)
      handle = null
    },
  }
}
