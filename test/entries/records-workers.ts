import '#test/support/one-at-a-time.ts'
import '#test/core/records/csv-memory.test.ts'
import '#test/core/records/long-text.test.ts'
import '#test/core/records/recompute.test.ts'
