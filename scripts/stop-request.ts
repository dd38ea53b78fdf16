/**
 * Aborts when this process is asked to stop: by Ctrl-C, SIGTERM or SIGHUP, or by the end of its parent. The caller may then take its time;
 * further signals change nothing.
 */
export function stopRequest(): AbortSignal {
  const request = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => request.abort())
  if (process.channel) {
    process.once('disconnect', () => request.abort())
    process.channel.unref()
  }
  return request.signal
}

/** Settles as the work does, or rejects as soon as the stop request comes. */
export function unlessStopped<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    const give = () => reject(stop.reason)
    if (stop.aborted) give()
    else stop.addEventListener('abort', give, { once: true })
  })
  return Promise.race([work, stopped])
}

/** Resolves when the stop request comes; the process stays alive until then. */
export function waitForStop(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) return resolve()
    const alive = setInterval(() => {}, 60_000)
    stop.addEventListener('abort', () => {
      clearInterval(alive)
      resolve()
    })
  })
}
