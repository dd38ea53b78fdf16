import { closeSync, linkSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { basename, dirname } from 'node:path'

// A lock is a listening socket in the file system: the kernel lets go of it with its process, however that ends, so there
// is no process id to be mistaken about, and it is seen from other containers that share the folder.

/**
 * Takes the lock of this name, or says who has it: the text that the holder gave, '?' when it does not answer.
 * A folder that cannot hold a socket gives a lock that excludes nobody.
 * @param {string} file
 * @param {() => string} [says] what others are told, by default the process id
 * @returns {Promise<{ taken: true, release: () => void } | { taken: false, holder: string }>}
 */
export async function takeLock(file, says = () => String(process.pid)) {
  mkdirSync(dirname(file), { recursive: true })
  for (;;) {
    const server = await listen(file, says)
    if (server) return { taken: true, release: () => server.close() }
    const holder = await ask(file)
    if (holder !== null) return { taken: false, holder }
    await removeStale(file)
  }
}

/**
 * Takes the lock, waiting for whoever has it; `onWait` is told once who that is.
 * @param {string} file
 * @param {(holder: string) => void} [onWait]
 * @returns {Promise<{ taken: true, release: () => void }>}
 */
export async function waitForLock(file, onWait) {
  for (let told = false; ; told = true) {
    const lock = await takeLock(file)
    if (lock.taken) return lock
    if (!told) onWait?.(lock.holder)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const unsupported = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL']

function listen(file, says) {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => {}).end(says()))
    const folder = openFolder(file)
    server.once('error', (error) => {
      closeFolder(folder)
      if (error.code === 'EADDRINUSE') resolve(null)
      else if (unsupported.includes(error.code)) resolve(server)
      else reject(error)
    })
    // Closing removes the socket by the name it was given, so the folder stays open for as long.
    server.once('close', () => closeFolder(folder))
    server.listen(folder.path, () => resolve(server.unref()))
  })
}

function ask(file) {
  return new Promise((resolve) => {
    const folder = openFolder(file)
    const socket = connect(folder.path)
    let text = ''
    let connected = false
    const done = (answer) => {
      closeFolder(folder)
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1000, () => done('?'))
    socket.on('connect', () => {
      connected = true
    })
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', () => done(text || '?'))
    // Refused or gone means that nobody listens; anything else, "permission denied" for one, that somebody might.
    socket.on('error', (error) => done(!connected && ['ECONNREFUSED', 'ENOENT'].includes(error.code) ? null : '?'))
  })
}

// Two processes may find the same dead socket. Each takes a name of its own to it before it looks again, so neither
// removes a socket that the other has just begun to listen on.
async function removeStale(file) {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  if ((await ask(aside)) !== null) {
    try {
      linkSync(aside, file)
    } catch {}
  }
  rmSync(aside, { force: true })
}

// The address of a socket holds about 100 bytes and projects live in deeper folders; Linux has a short name for an open one.
function openFolder(file) {
  if (process.platform !== 'linux') return { path: file, handle: null }
  const handle = openSync(dirname(file), 'r')
  return { path: `/proc/self/fd/${handle}/${basename(file)}`, handle }
}

function closeFolder(folder) {
  if (folder.handle !== null) closeSync(folder.handle)
  folder.handle = null
}
