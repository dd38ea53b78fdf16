import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'

// A lock is a folder with a listening socket in it. The kernel ends the socket with its process, however that ends, so there
// is no process id to be mistaken about, and other containers that share the folder see it too. To take it is to rename a
// folder with one's own socket to it, which works only while there is none or an empty one. A dead socket is removed by its
// name, and names are never used twice: nobody removes what another has just put there.

/**
 * Takes the lock of this name, or says who has it: the text that the holder gave, '?' when it does not answer.
 * Where the file system has no sockets it excludes nobody.
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
  // Closing removes the socket by the name it was given, so the folder stays open for as long.
  server.once('close', address.close)
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (unsupported.includes(error.code)) return resolve(server)
      address.close()
      reject(error)
    })
    server.listen(address.path, () => {
      // The folder is private already, so nobody else has reached the socket before.
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
    // Refused or gone means that nobody listens; anything else, "permission denied" for one, that somebody might.
    socket.on('error', (error) => done(['ECONNREFUSED', 'ENOENT'].includes(error.code) ? null : '?'))
  })
}

// The address of a socket holds about 100 bytes and projects live in deeper folders; Linux has a short name for an open one.
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
