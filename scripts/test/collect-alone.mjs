import { setFlagsFromString } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

// Each thread of tests collects its garbage by itself. V8's helpers run beside threads that keep all cores busy already, and these wait for
// them: a quarter of the processor time (measured on two cores). A flag on the command line would do, but AVA hands it on to its threads,
// which refuse it.
if (isMainThread) setFlagsFromString('--single-threaded-gc')
