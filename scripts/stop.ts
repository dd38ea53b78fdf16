/**
 * Aborts when this process is asked to stop: by Ctrl-C, by SIGTERM or SIGHUP, or by the end of the process that started it.
 * From then on the caller has the time it takes; more signals change nothing.
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

/** Settles when the request has come. */
export function requested(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve()
    else stop.addEventListener('abort', () => resolve(), { once: true })
  })
}
