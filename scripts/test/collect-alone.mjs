import { setFlagsFromString } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

// Each test thread collects its own garbage. V8's helper threads would compete with threads that keep all cores busy: that took a quarter
// of the processor time (on two cores). The flag cannot be on the command line, because AVA passes it to its threads, which refuse it.
if (isMainThread) setFlagsFromString('--single-threaded-gc')
